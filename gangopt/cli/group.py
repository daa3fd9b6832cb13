"""Groups of commands that suggest similar names for an unknown one."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from gangopt.base.arguments import unknown

__all__ = ["Group"]


class Group(TyperGroup):
    """A group of commands."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name.

        Parameters
        ----------
        ctx : Context
            Context of the command line.
        cmd_name : str
            Name of the command.

        Raises
        ------
        InputError
            If there is no such command.
        """
        if cmd_name not in self.commands:
            raise unknown("command", cmd_name, list(self.commands))
        return self.commands[cmd_name]
