#if Service
  import Locking
  import Tracing

  /// The span of a fetch, for the loads that wait for it.
  ///
  /// The load that leads sets it, and the loads that joined link to it.
  final class FetchRecord: Sendable {
    /// The context of a span, and the identity of the load that leads.
    struct FetchSpan: Sendable {
      let context: ServiceContext
      let leader: ObjectIdentifier
      /// Whether the fetch has not returned.
      var isRunning = true
    }

    private let state = Guarded<FetchSpan?>(nil)

    /// Sets the context of the span. A further attempt of the same leader replaces it.
    ///
    /// - Returns: False if the record belongs to the fetch of another leader.
    func begin(_ context: ServiceContext, by leader: ObjectIdentifier) -> Bool {
      state.withLock { state in
        guard state == nil || state?.leader == leader else { return false }
        state = FetchSpan(context: context, leader: leader)
        return true
      }
    }

    /// Notes that the fetch has returned. The leader must call this before its flight completes.
    func noteReturn() { state.withLock { $0?.isRunning = false } }

    /// The span; nil until a traced fetch begins.
    var span: FetchSpan? { state.withLock { $0 } }
  }

  /// The records of the keys that have a load in progress. The table has no record for any other key, so it is bounded
  /// by them.
  final class FetchRecords<Key: Hashable & Sendable>: Sendable {
    typealias KeyedRecord = (key: Key, record: FetchRecord)

    private struct Held: Sendable {
      let record = FetchRecord()
      /// The number of loads that hold the record. It is removed with the last one.
      var holderCount = 1
    }

    private let held = Guarded<[Key: Held]>([:])

    /// The number of keys with a record.
    var count: Int { held.withLock { $0.count } }

    /// Returns the record of a key, for a load that begins. Concurrent loads of a key get the same record.
    ///
    /// The caller must call ``release(_:of:)`` or ``end(_:of:)``.
    func hold(_ key: Key) -> FetchRecord {
      held.withLock { held in
        if let known = held[key] {
          held[key]?.holderCount += 1
          return known.record
        }
        return Self.insert(key, into: &held)
      }
    }

    /// Returns a new record, which later loads of the key get. The caller holds it.
    func holdNew(_ key: Key) -> FetchRecord {
      held.withLock { Self.insert(key, into: &$0) }
    }

    /// Returns those of the keys that have a record, with their current records.
    func currentRecords(of keys: Set<Key>) -> [KeyedRecord] {
      held.withLock { held in keys.compactMap { key in held[key].map { (key, $0.record) } } }
    }

    /// Notes that a load no longer holds a record. A record that has ended is not affected.
    func release(_ record: FetchRecord, of key: Key) {
      remove(record, of: key) { held in
        held.holderCount -= 1
        return held.holderCount == 0
      }
    }

    /// Ends a record, because its fetch has ended: later loads of the key get another one.
    func end(_ record: FetchRecord, of key: Key) {
      remove(record, of: key) { _ in true }
    }

    /// Removes a record if the condition holds. The table's copy of the key is released outside the lock, because its
    /// deinitializer is the user's code.
    private func remove(_ record: FetchRecord, of key: Key, if isRemoved: (inout Held) -> Bool) {
      let removed = held.withLock { held -> (Key, Held)? in
        guard let index = held.index(forKey: key), held[index].value.record === record else { return nil }
        return isRemoved(&held.values[index]) ? held.remove(at: index) : nil
      }
      withExtendedLifetime(removed) {}
    }

    /// Inserts a new record. The dictionary keeps the key that it has, and the former record is released by the load
    /// that holds it.
    private static func insert(_ key: Key, into held: inout [Key: Held]) -> FetchRecord {
      let new = Held()
      held[key] = new
      return new.record
    }
  }
#endif
