import Locking

/// The parts of a batch or a draft over several caches: one for each cache, in the order of their first uses.
///
/// A part retains its cache, so that no other cache can have its identity.
final class PartsByCache<Part: Sendable>: Sendable {
  private struct State: Sendable {
    var parts: [Part] = []
    var positions: [ObjectIdentifier: Int] = [:]
  }

  private let state = Guarded(State())

  init() {}

  var all: [Part] { state.withLock { $0.parts } }

  /// Returns the part of a cache, which is made at the first use.
  ///
  /// - Parameters:
  ///   - cache: The cache. Its part has the type that `make` returns.
  ///   - erase: Converts a part to the type of all parts.
  ///   - make: Makes the part, outside the lock. A part that another thread made first is returned instead.
  /// - Returns: The part.
  func part<Own>(of cache: AnyObject, erasedBy erase: (Own) -> Part, _ make: () -> Own) -> Own {
    let identity = ObjectIdentifier(cache)
    let known = state.withLock { state in state.positions[identity].map { state.parts[$0] } }
    if let known = known as? Own { return known }
    let made = make()
    let erased = erase(made)
    let first = state.withLock { state -> Part? in
      if let position = state.positions[identity] { return state.parts[position] }
      state.positions[identity] = state.parts.count
      state.parts.append(erased)
      return nil
    }
    return first as? Own ?? made
  }

  /// Runs `body` with all parts, while no other thread adds a part or runs such a body.
  func together<Result: Sendable>(_ body: ([Part]) -> Result) -> Result {
    state.withLock { body($0.parts) }
  }
}
