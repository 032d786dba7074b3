import Locking

/// What a cache fetches from, in a test: answers as it was told, and remembers every call.
///
///     let origin = ScriptedOrigin<String, Int> { key, number in .value(number) }
///     origin.script(.failure(Offline()), .value(7), for: "a")     // first this, then that, then the usual
///     try await cache.value(forKey: "a", fetch: origin.fetch)     // throws Offline
///     #expect(origin.callCount(for: "a") == 1)
///     #expect(origin.greatestConcurrency == 1)                    // never two fetches of one key at once
///
/// Safe from every thread. Nothing sleeps: what takes time waits at a ``Gate``.
public final class ScriptedOrigin<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// An answer.
  public typealias Answer = OriginAnswer<Key, Value>

  private let state = Guarded(OriginState<Key, Value>())
  private let usual: @Sendable (_ key: Key, _ number: Int) -> Answer
  private let onCall: (@Sendable (OriginCall<Key>) -> Void)?

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - onCall: Called at the start of every fetch, in its task: the place to look at task-local values.
  ///   - usual: The answer to a call that no script is left for, by its key and its number (from 1, per key).
  public init(
    onCall: (@Sendable (OriginCall<Key>) -> Void)? = nil,
    usual: @escaping @Sendable (_ key: Key, _ number: Int) -> Answer
  ) {
    self.onCall = onCall
    self.usual = usual
  }

  /// Appends answers to the key's script; each call takes the first that is left.
  public func script(_ answers: Answer..., for key: Key) {
    state.withLock { $0.scripts[key, default: []] += answers }
  }

  /// Fetches one key. Pass it to the cache: `cache.value(forKey: key, fetch: origin.fetch)`.
  @Sendable public func fetch(_ key: Key) async throws -> Value {
    let (index, call, scripted) = state.withLock { $0.begin(key) }
    onCall?(call)
    return try await withTaskCancellationHandler {
      do {
        let value = try await (scripted ?? usual(key, call.number)).give(key, call.number)
        state.withLock { $0.end(index, .value) }
        return value
      } catch {
        state.withLock { $0.end(index, .failure) }
        throw error
      }
    } onCancel: {
      state.withLock { $0.noteCancellation(index) }
    }
  }

  /// Fetches several keys, each as a call of its own, side by side; throws if one of them throws. Pass it to the cache:
  /// `cache.values(forKeys: keys, fetch: origin.fetch)`.
  @Sendable public func fetch(_ keys: [Key]) async throws -> [Key: Value] {
    state.withLock { $0.bulkCalls.append(keys) }
    return try await withThrowingTaskGroup(of: (Key, Value).self) { group in
      for key in keys { group.addTask { (key, try await self.fetch(key)) } }
      var values: [Key: Value] = [:]
      for try await (key, value) in group { values[key] = value }
      return values
    }
  }

  /// Every call so far, in the order in which they began.
  public var calls: [OriginCall<Key>] { state.withLock { $0.calls } }

  /// The calls of a key so far.
  public func calls(for key: Key) -> [OriginCall<Key>] { calls.filter { $0.key == key } }

  /// The keys of every fetch of several, in the order in which they began.
  public var bulkCalls: [[Key]] { state.withLock { $0.bulkCalls } }

  /// How many calls there were.
  public var callCount: Int { state.withLock { $0.calls.count } }

  /// How many calls of a key there were.
  public func callCount(for key: Key) -> Int { state.withLock { $0.counts[key] ?? 0 } }

  /// How many calls run now.
  public var runningCount: Int { state.withLock { $0.running.values.reduce(0, +) } }

  /// The most calls of one key that ran at once, over all keys; 0 without calls. Behind a cache, never more than 1 unless
  /// the key was removed or replaced during a fetch, or the origin goes on although it was cancelled.
  public var greatestConcurrency: Int { state.withLock { $0.greatestConcurrency.values.max() ?? 0 } }

  /// The most calls of this key that ran at once.
  public func greatestConcurrency(for key: Key) -> Int { state.withLock { $0.greatestConcurrency[key] ?? 0 } }
}
