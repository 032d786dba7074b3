/// A gate for one task, which waits until it is opened.
package final class SingleWaiterGate: Sendable {
  private let arrivals = Arrivals(1)

  package init() {}

  package func wait() async { await arrivals.all() }
  package func open() { arrivals.arrive() }
}
