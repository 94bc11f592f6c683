"""Reads what ctest wrote (--output-junit) and says it as a person wants to hear it: the reasons of what was skipped, what failed, and a last
line that counts. Several files are one run: summarise.py FILE..."""
import collections
import re
import sys
import xml.etree.ElementTree as tree


def reason(output):
    """The line that a skipped test printed: of GTEST_SKIP() the text below the place, of a script its `skipped: ...`."""
    lines = [line.strip() for line in output.splitlines()]
    for at, line in enumerate(lines):
        if line.startswith("skipped: "):
            return line[len("skipped: "):]
        if re.search(r": Skipped$", line):
            return next((text for text in lines[at + 1:] if text), "no reason given")
    return "no reason given"


counts = collections.Counter()
skips = collections.defaultdict(list)
failures = []
for path in sys.argv[1:]:
    for case in tree.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        output = case.findtext("system-out") or ""
        if status == "run":
            counts["passed"] += 1
        elif status in ("notrun", "disabled"):
            counts["skipped"] += 1
            skips[reason(output)].append(case.get("name"))
        else:
            counts["failed"] += 1
            failures.append(case.get("name"))
for why, names in sorted(skips.items()):
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    print(f"skipped: {names[0]}{more}: {why}")
for name in failures:
    print(f"failed: {name}")
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(1 if failures else 0)
