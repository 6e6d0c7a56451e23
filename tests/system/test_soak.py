"""The soak, for seconds. docs/operations.md has the command for its twenty minutes."""
import unittest

import soak


class Soak(unittest.TestCase):
    alone = True  # what it takes for grown is what grew after a warm first round

    def test_a_short_one(self):
        self.assertEqual(soak.run(12, lambda line: print("     " + line)), [])
