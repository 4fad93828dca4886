"""The command line's front door; all else is imported when a command needs it."""

from __future__ import annotations

import gc
import os
import sys

OUT_OF_MEMORY = b"error: the system gives this process no more: out of memory [machine_spent]\n"


def main() -> None:
    """Run the command line; a process that ends with its answer has nothing to gain from collecting garbage."""
    gc.disable()
    try:
        from memento_git.cli import streams
        from memento_git.cli.boundary import run

        streams.wait_for_all()
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except MemoryError:  # not even enough to say so as it is said elsewhere
        os.write(2, OUT_OF_MEMORY)
        os._exit(1)
    except EOFError as error:
        sys.exit(_cut_short(error))
    gc.freeze()  # else the interpreter, although told not to, looks through all there is before it ends
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError, AttributeError):
        sys.exit(code)  # the interpreter says what could not be written
    os._exit(code)  # and nothing is left that taking modules apart, a tenth of a short command, would do


def _cut_short(error: EOFError) -> int:
    """Say which file of this installation came to an end too soon; what says it elsewhere may be cut short itself."""
    from memento_git.cli import machine_errors

    try:
        machine_errors.refuse_cut_short(error)
    except machine_errors.ModuleCutShort as told:
        os.write(2, f"error: {told.message} [{told.token}]\n next: {told.hint}\n".encode())
        return told.exit_code
    raise error


if __name__ == "__main__":
    main()
