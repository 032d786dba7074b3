import Synchronization

/// A gate for one task, which waits until it is opened.
package final class Door: Sendable {
  private let arrivals = Arrivals(1)

  package init() {}

  package func wait() async { await arrivals.all() }
  package func open() { arrivals.arrive() }
}

/// A counter for any number of threads.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  package func increment() { count.add(1, ordering: .relaxed) }
  package var value: Int { count.load(ordering: .relaxed) }
}
