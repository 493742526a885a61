import unittest

from shop.stock import value


class Stock(unittest.TestCase):
    def test_the_value_is_that_of_all_articles(self):
        self.assertEqual(value({"apple": 10, "bread": 1}), 550)
