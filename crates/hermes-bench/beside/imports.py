"""The speed of importing the corpus. The peer has no import: it appends."""
from tools import Row


def run(bench):
    figures = {side: figures for side, (_, figures) in bench.loaded.items()}
    peer, ours = figures["peer"], figures["ours"]
    if peer["messages"] != ours["messages"]:
        raise RuntimeError("the two files hold different numbers of messages")
    return figures, [
        Row("import, until on disk", "1/s", peer["per_second"], ours["per_second"]),
        Row("import, until indexed and closed", "1/s", peer["per_second_settled"], ours["per_second_settled"], "≥ 10×"),
        Row("import, CPU", "s", peer["cpu_seconds"], ours["cpu_seconds"]),
    ]
