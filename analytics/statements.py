"""The queries, as one statement each for one engine."""

import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
ENGINES = ("athena", "duckdb")

# In the order of their dependencies. Some are written for each engine.
VIEWS = (
    "lines",
    "items",
    "elements",
    "orders",
    "credits",
    "products",
    "stocks",
    "customers",
    "discount_codes",
    "order_codes",
    "return_lines",
    "order_lines",
    "sales",
)


def queries() -> list[str]:
    """The names of the queries."""
    return sorted(path.stem for path in (FOLDER / "queries").glob("*.sql"))


def view(engine: str, name: str) -> str:
    """The text of a view: the engine's own if there is one."""
    own = FOLDER / engine / f"{name}.sql"
    return (own if own.exists() else FOLDER / "views" / f"{name}.sql").read_text().strip()


def query(name: str) -> str:
    """The text of a query over the views."""
    return (FOLDER / "queries" / f"{name}.sql").read_text().strip()


def statement(engine: str, text: str) -> str:
    """A query with the views that it needs, in one statement. It needs no database of views, so nothing has to be kept
    in step with these files."""
    needed = needs(engine, text)
    views = [f"{name} AS (\n{indented(view(engine, name))}\n)" for name in VIEWS if name in needed]
    comment, body = split_comment(text)
    return f"{comment}WITH\n" + ",\n".join(views) + f"\n{body}\n"


def needs(engine: str, text: str) -> set[str]:
    """The views that a text reads, and those that these read."""
    found = {name for name in re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", without_comments(text)) if name in VIEWS}
    return found.union(*(needs(engine, view(engine, name)) for name in found))


def without_comments(text: str) -> str:
    return re.sub(r"--.*", "", text)


def split_comment(text: str) -> tuple[str, str]:
    """The comment at the beginning of a query, and the rest."""
    lines = text.splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if not line.startswith("--"))
    return "".join(lines[:end]), "".join(lines[end:])


def indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())
