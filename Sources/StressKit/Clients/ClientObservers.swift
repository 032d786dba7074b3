import CisternTesting
import Cistern

/// The observers that a client has registered: of keys and prefixes, as closures and as sequences.
struct ClientObservers {
  /// A registered observer, and the object that ends it.
  private enum Registration {
    case closure(ScopedObserver, Observations)
    case sequence(ScopedObserver, Task<Void, Never>)
  }

  private static let capacity = 4

  private var registrations: [Registration] = []

  /// Registers an observer of the key or its prefix. Ends the oldest observer first if the client has the maximum
  /// number.
  mutating func change(
    _ key: Int, of cache: Cache<String, [UInt8]>, _ runState: RunState, using generator: inout SeededGenerator
  ) async {
    if registrations.count >= ClientObservers.capacity { await end(registrations.removeFirst(), runState) }
    let name = runState.keys.names[key]
    let prefix = runState.keys.prefix(of: key) ?? name
    runState.scopedObservers.add(1, ordering: .relaxed)
    switch generator.next(below: 4) {
    case 0:
      let observer = ScopedObserver(name, violations: runState.violations) { $0 == name }
      let observations = Observations()
      cache.observe(.key(name)) { observer.receive($0) }.store(in: observations)
      registrations.append(.closure(observer, observations))
    case 1:
      let observer = ScopedObserver(prefix, violations: runState.violations) { $0.hasPrefix(prefix) }
      let observations = Observations()
      cache.observe(.prefix(prefix)) { observer.receive($0) }.store(in: observations)
      registrations.append(.closure(observer, observations))
    case 2:
      let observer = ScopedObserver(name, violations: runState.violations) { $0 == name }
      registrations.append(.sequence(observer, ClientObservers.consume(cache.updates(forKey: name), observer)))
    default:
      let observer = ScopedObserver(prefix, violations: runState.violations) { $0.hasPrefix(prefix) }
      registrations.append(.sequence(observer, ClientObservers.consume(cache.updates(.prefix(prefix)), observer)))
    }
  }

  /// Ends all observers. If a sequence does not end after the cancellation of its task, this method never returns.
  mutating func endAll(_ runState: RunState) async {
    for registration in registrations { await end(registration, runState) }
    registrations = []
  }

  private func end(_ registration: Registration, _ runState: RunState) async {
    switch registration {
    case .closure(let observer, let observations):
      observations.cancelAll()
      runState.scopedChanges.add(observer.count, ordering: .relaxed)
    case .sequence(let observer, let task):
      task.cancel()
      await task.value
      runState.scopedChanges.add(observer.count, ordering: .relaxed)
    }
  }

  private static func consume(
    _ updates: Updates<String, [UInt8]>, _ observer: ScopedObserver
  ) -> Task<Void, Never> {
    Task {
      for await change in updates { observer.receive(change) }
    }
  }
}
