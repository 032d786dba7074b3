import Locking

/// An origin for tests. It answers as a script says, and records every call.
///
///     let origin = ScriptedOrigin<String, Int> { key, number in .value(number) }
///     origin.script(.failure(Offline()), .value(7), for: "a")     // the first two answers for "a"
///     try await cache.value(forKey: "a", fetch: origin.fetch)     // throws Offline
///     #expect(origin.callCount(for: "a") == 1)
///     #expect(origin.greatestConcurrency == 1)                    // never two fetches of one key at once
///
/// Every thread can use the origin. It never sleeps: an answer that takes time waits at a ``Gate``.
public final class ScriptedOrigin<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The answer to one fetch.
  public typealias Answer = OriginAnswer<Key, Value>

  private let state = Guarded(OriginState<Key, Value>())
  private let usual: @Sendable (_ key: Key, _ number: Int) -> Answer
  private let onCall: (@Sendable (OriginCall<Key>) -> Void)?

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - onCall: The closure to call at the start of every fetch, in the fetch's task. It can inspect task-local
  ///     values.
  ///   - usual: The closure that returns the answer to a call without a scripted answer. It receives the key and
  ///     the number of the call. Calls of a key are numbered from 1.
  public init(
    onCall: (@Sendable (OriginCall<Key>) -> Void)? = nil,
    usual: @escaping @Sendable (_ key: Key, _ number: Int) -> Answer
  ) {
    self.onCall = onCall
    self.usual = usual
  }

  /// Appends answers to the script of a key. Each fetch of the key consumes one answer.
  ///
  /// - Parameters:
  ///   - answers: The answers, in the order of the fetches.
  ///   - key: The key.
  public func script(_ answers: Answer..., for key: Key) {
    state.withLock { $0.scripts[key, default: []] += answers }
  }

  /// Fetches the value of one key. Pass the method to the cache: `cache.value(forKey: key, fetch: origin.fetch)`.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value of the scripted answer, or of the usual one.
  /// - Throws: The error of the answer.
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

  /// Fetches the values of several keys concurrently. Pass the method to the cache: `cache.values(forKeys: keys,
  /// fetch: origin.fetch)`.
  ///
  /// Each key is a separate call in ``calls``.
  ///
  /// - Parameter keys: The keys.
  /// - Returns: The values of all keys.
  /// - Throws: The first error of an answer. The other fetches are then cancelled.
  @Sendable public func fetch(_ keys: [Key]) async throws -> [Key: Value] {
    state.withLock { $0.bulkCalls.append(keys) }
    return try await withThrowingTaskGroup(of: (Key, Value).self) { group in
      for key in keys { group.addTask { (key, try await self.fetch(key)) } }
      var values: [Key: Value] = [:]
      for try await (key, value) in group { values[key] = value }
      return values
    }
  }

  /// All calls so far, in the order in which they began.
  public var calls: [OriginCall<Key>] { state.withLock { $0.calls } }

  /// Returns the calls of one key so far.
  ///
  /// - Parameter key: The key.
  /// - Returns: The calls, in the order in which they began.
  /// - Complexity: O(*n*), where *n* is the number of all calls.
  public func calls(for key: Key) -> [OriginCall<Key>] { calls.filter { $0.key == key } }

  /// The keys of every fetch of several keys, in the order in which the fetches began.
  public var bulkCalls: [[Key]] { state.withLock { $0.bulkCalls } }

  /// The number of calls so far.
  public var callCount: Int { state.withLock { $0.calls.count } }

  /// Returns the number of calls of one key so far.
  ///
  /// - Parameter key: The key.
  /// - Returns: The number of calls.
  public func callCount(for key: Key) -> Int { state.withLock { $0.counts[key] ?? 0 } }

  /// The number of calls that run now.
  public var runningCount: Int { state.withLock { $0.running.values.reduce(0, +) } }

  /// The maximum number of concurrent calls of one key, over all keys. It is 0 before the first call.
  ///
  /// Behind a cache, more than 1 is possible only in two cases: the key was removed or replaced during a fetch, or
  /// the origin ignored a cancellation.
  public var greatestConcurrency: Int { state.withLock { $0.greatestConcurrency.values.max() ?? 0 } }

  /// Returns the maximum number of concurrent calls of one key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The maximum number of concurrent calls, or 0 before the first call.
  public func greatestConcurrency(for key: Key) -> Int { state.withLock { $0.greatestConcurrency[key] ?? 0 } }
}
