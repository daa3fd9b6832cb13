"""Parts of HTML reports."""

from gangopt.reporting import page
from gangopt.reporting.text import Table


def test_text_is_escaped():
    made = page.page("<t>", page.heading("<h>", 2), page.paragraph("<p>", strong=True), page.preformatted("<  pre>"))
    assert "<title>&lt;t&gt;</title>" in made
    assert "<h2>&lt;h&gt;</h2><p><strong>&lt;p&gt;</strong></p><pre>&lt;  pre&gt;</pre>" in made


def test_tables_align_their_columns_and_mark_the_best_rows():
    table = Table({"<name>": "left", "number": "right"})
    table.add_row("a", "1")
    table.add_row("b", "2")
    assert page.table(table, best={1}) == (
        "<table><thead><tr><th class=left>&lt;name&gt;</th><th>number</th></tr></thead><tbody>"
        "<tr><td class=left>a</td><td>1</td></tr>"
        "<tr class=best><td class=left>b</td><td>2</td></tr></tbody></table>"
    )
