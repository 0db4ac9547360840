"""The merge of the note editor: it answers as Swift's does, on the pairs of texts in Fixtures/merge/vectors.json.

python3 Tests/Gallery/merging.py runs it alone; it needs chromium and chromium-driver, and no server.
"""

import json
import pathlib
import sys

project = pathlib.Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(project / "Tests/FirstDay"), str(project / "Tests/Gallery")]
    sys.dont_write_bytecode = True

from static import StaticSite
from steps import told
from visitor import Visitor

# Which of some pairs are merged in another way, and which ranges do not make one text of another.
compared = """
    const { merge, edits } = await import("/merge.js"), [vectors] = args, wrong = [];
    vectors.forEach(({ base, mine, theirs, merged }, at) => {
      const found = merge(base, mine, theirs), other = merge(base, theirs, mine);
      if (found !== merged || other !== merged) wrong.push({ at, base, mine, theirs, merged, found, other });
      let text = mine;
      for (const [start, end, part] of edits(mine, theirs)) text = text.slice(0, start) + part + text.slice(end);
      if (text !== theirs) wrong.push({ at, mine, theirs, edited: text });
    });
    return wrong;"""


class Merging:
    """Chromium with the script of the source tree."""

    def __init__(self, programs=None):
        self.site = StaticSite()
        self.site.pages["/merging"] = "<!doctype html><title>merging</title>"
        self.visitor = Visitor("nobody")

    def check(self):
        recorded = json.loads((project / "Fixtures/merge/vectors.json").read_text())
        vectors = recorded["vectors"]
        self.visitor.open(self.site.url + "/merging")
        wrong = self.visitor.run(compared, vectors)
        conflicts = sum(vector["merged"] is None for vector in vectors)
        told(len(vectors) >= 500, f"there are {len(vectors)} pairs of seed {recorded['seed']}")
        told(wrong == [], f"the page merges all as Swift does, {conflicts} of them not at all", wrong[:3])

    def close(self):
        self.visitor.close()
        self.site.server.shutdown()


if __name__ == "__main__":
    Visitor.port = 9535
    driver = Visitor.start_driver()
    try:
        merging = Merging()
        merging.check()
        merging.close()
    finally:
        driver.terminate()
