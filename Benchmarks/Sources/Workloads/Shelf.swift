import Synchronization

/// Keeps the object that a benchmark's setup created, so that its teardown can close it. The benchmark package passes
/// it only to the body.
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
