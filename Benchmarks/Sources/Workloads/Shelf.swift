import Synchronization

/// Keeps what a benchmark's set-up made until its end can close it: the benchmark package hands it to the one only.
package final class Shelf<Item: Sendable>: Sendable {
  private let item = Mutex<Item?>(nil)

  package init() {}

  package func keep(_ item: Item) -> Item {
    self.item.withLock { $0 = item }
    return item
  }

  package func empty() -> Item? {
    item.withLock { item in
      defer { item = nil }
      return item
    }
  }
}
