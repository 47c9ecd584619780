"""What benchmarks say of their samples."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.figures import Figure, Line, interval, number, times
from bench.table import render


def test_a_figure_is_the_median_and_the_middle_of_its_samples() -> None:
    figure = Figure.of([*range(1, 20), 1000], "µs")
    assert (figure.median, figure.low, figure.high, figure.samples) == (10.5, 3, 18, 20)
    assert times(figure, Figure.of([105.0], "µs")) == 10


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (0.01234, "0.0123"), (12.345, "12.3"), (123.4, "123"), (12345.6, "12 346")]
)
def test_numbers_have_three_figures(value: float, said: str) -> None:
    assert number(value) == said


def test_an_interval_holds_the_statistic_and_narrows_with_samples() -> None:
    few, many = list(range(10)), [*range(10)] * 40
    wide, narrow = interval(statistics.fmean, few), interval(statistics.fmean, many)
    assert wide[0] < narrow[0] < 4.5 < narrow[1] < wide[1]
    assert interval(statistics.fmean, few) == wide


def test_the_table_says_what_was_missed() -> None:
    figure = Figure.of([2.0], "ms")
    lines = [Line("a", "fast", figure, figure, "1.0x", ">= 1x", True), Line("b", "slow", figure, None, "", "0", False)]
    rows = render(lines).splitlines()
    assert len({len(row) for row in rows}) == 1
    assert [row.split("|")[-2].strip() for row in rows[2:]] == ["met", "missed"]


def test_a_row_is_measured_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "result.json"
    main(["has_unread", "--quick", "--json", str(target)])
    written = json.loads(target.read_text())
    assert written["command"] == "bin/bench has_unread --quick"
    assert {line["row"] for line in written["lines"]} == {"has_unread"}
    assert all(line["figure"]["median"] > 0 for line in written["lines"] if line["figure"])
    assert "| has_unread |" in capsys.readouterr().out


def test_an_unknown_row_is_refused_by_name() -> None:
    with pytest.raises(SystemExit, match="no row nope"):
        main(["nope"])
