import unittest

from shop.invoice import line


class Invoice(unittest.TestCase):
    def test_a_line_has_count_price_and_sum(self):
        self.assertEqual(line("milk", 2), "2 x milk at 120: 240")
