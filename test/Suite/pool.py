"""A pool of forked workers that survives what it runs: a crash or a hang costs one case, never the run."""

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
from multiprocessing.connection import wait


class _Worker:
    def __init__(self, context, function):
        self.log = tempfile.TemporaryFile()
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(function, theirs, self.log.fileno()), daemon=True)
        self.process.start()
        theirs.close()
        self.task = None
        self.deadline = 0.0

    def give(self, task, seconds):
        self.task = task
        self.deadline = time.monotonic() + seconds
        self.log.seek(0)
        self.log.truncate()
        self.pipe.send(task)

    def last_words(self):
        """The end of what the process printed since it got its task."""
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:])[-400:]

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.pipe.close()
        self.log.close()


def _serve(function, pipe, log):
    os.dup2(log, 1)
    os.dup2(log, 2)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            os._exit(0)
        pipe.send(function(task))


def run_all(function, tasks, jobs, seconds):
    """Yields (task, result) as they finish. A task that ended its process gives ("crashed", why) as its result.

    The workers are forked from this process, so that what it has loaded need not be loaded again.
    """
    context = multiprocessing.get_context("fork")
    waiting = list(reversed(tasks))
    workers = [_Worker(context, function) for _ in range(min(jobs, len(tasks)))]
    try:
        for worker in workers:
            worker.give(waiting.pop(), seconds)
        busy = list(workers)
        while busy:
            left = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
            ready = wait([worker.pipe for worker in busy], timeout=left)
            for worker in list(busy):
                alive, result = True, None
                if worker.pipe in ready:
                    try:
                        result = worker.pipe.recv()
                    except EOFError:
                        alive = False
                        worker.process.join()
                        code = worker.process.exitcode
                        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                        result = ("crashed", f"{name}: {worker.last_words()}")
                elif worker.deadline <= time.monotonic():
                    alive = False
                    result = ("crashed", f"no answer after {seconds} s: {worker.last_words()}")
                else:
                    continue
                task = worker.task
                if not alive:
                    worker.end()
                    busy.remove(worker)
                    workers.remove(worker)
                    if waiting:
                        worker = _Worker(context, function)
                        workers.append(worker)
                        busy.append(worker)
                if waiting:
                    worker.give(waiting.pop(), seconds)
                elif worker in busy:
                    busy.remove(worker)
                yield task, result
    finally:
        for worker in workers:
            worker.end()
