"""Inside the namespace of a slow line: slow_line.py WHEELS COMMAND...; `URL` in the command becomes the server's address; prints the seconds."""
import subprocess
import sys
import time

from rows import Server

with Server(sys.argv[1], delay=0.03) as server:
    command = [argument.replace("URL", server.url) for argument in sys.argv[2:]]
    began = time.perf_counter()
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    seconds = time.perf_counter() - began
if done.returncode:
    sys.exit(1)
print(seconds)
