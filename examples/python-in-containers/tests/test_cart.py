import unittest

from shop.cart import total


class Cart(unittest.TestCase):
    def test_an_article_that_is_named_twice_is_bought_twice(self):
        self.assertEqual(total(["apple", "bread", "apple"]), 310)
