import Synchronization

/// A counter for any number of threads.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  package func increment() { count.add(1, ordering: .relaxed) }
  package var value: Int { count.load(ordering: .relaxed) }
}
