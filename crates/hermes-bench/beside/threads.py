"""Eight threads of one process of ours append concurrently; nothing is lost, duplicated or refused."""
from tools import Row


def run(bench):
    figures = bench.run("ours", "threads", bench.file("threads.db"))
    wrong = figures["lost"] + figures["doubled"] + figures["errors"]
    return figures, [
        Row("8 threads, acknowledged", "1/s", None, figures["per_second"]),
        Row("8 threads, lost, doubled or refused", "", None, wrong, "= 0"),
    ]
