"""What is on the shelves."""

from shop.prices import get_price


def value(shelves):
    return sum(get_price(article) * count for article, count in shelves.items())
