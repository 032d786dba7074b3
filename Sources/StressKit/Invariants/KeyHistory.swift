/// The newest values of one key, and the check of the values that reads return. Pure: the caller passes the times
/// of all calls, and provides the locking.
///
/// **The times of a value.** Each value is unique. The history has these times for each value:
///
/// - *settled*: Every operation that is called later comes after the value in the key's order. For a write or a
///   removal, this is the time of its return. For every value, it is no later than the first return of a read that
///   saw the value.
/// - *started*: The start of the fetch, for a fetched value. Every value that is *made* later, by a write, a
///   removal, or the leader of another fetch, comes after the value. Its maker took the entry away from the fetch,
///   or was called after the end of the fetch. A value that is only read later need not come after it: the older
///   value is present while the newer one is fetched.
/// - *made*: The call of the write or removal, or of the fetch's leader.
/// - *returned*: At this time, the value is current, or has been current. This is the return of the write or
///   removal, or of the first read that saw the value.
/// - *latest start*: The last call that made or saw the value. For a fetched value, it begins as the call of the
///   leader: the entry can lose its flight between that call and the start of the fetch.
///
/// **The rule.** A read that returns `old` is wrong if and only if there is a `new` that satisfies both conditions:
///
/// - `old.settled < new.latestStart` or `old.started < new.made`. Then `new` is later in the key's order.
/// - `new.returned < old.latestStart`. Then `new` was present when the read began.
///
/// This is the criterion of Gibbons and Korach for a register with unique values ("Testing shared memories", 1997),
/// with one exception. A caller that waits for a flight receives the flight's value, even if the entry was removed
/// or replaced during the wait. Such a caller called before the removal returned, so the rule accepts its result.
/// The rule rejects this result for a later caller.
///
/// A removal counts as a value that no read returns. A read that finds no value is always right, because any entry
/// may be evicted.
struct KeyHistory {
  private struct Value {
    let version: Version
    var settled: UInt64
    var started = UInt64.max
    var returned: UInt64
    let made: UInt64
    var latestStart: UInt64
    /// Whether the call that writes the value has not returned.
    var isOpen = false

    init(
      _ version: Version, made: UInt64, settled: UInt64 = .max, started: UInt64 = .max, isOpen: Bool = false
    ) {
      self.version = version
      self.made = made
      self.settled = settled
      self.started = started
      self.isOpen = isOpen
      returned = .max
      latestStart = made
    }

    /// Returns whether this value certainly precedes the other one in the key's order.
    func precedes(_ other: Value) -> Bool {
      settled < other.latestStart || started < other.made
    }
  }

  /// The number of values above which old values are dropped, if their order is certain.
  static let capacity = 8
  /// The maximum number of values.
  static let hardCapacity = 128

  private var values: [Value] = []
  private var newestNumber: UInt64 = 0
  /// A read that began later than this time must not return a value that was dropped.
  private var forgottenUntil: UInt64 = 0
  private var openWrites = 0
  private var lastWriteReturn: UInt64 = 0

  /// Returns a number that no other value of the key has.
  mutating func nextNumber() -> UInt64 {
    newestNumber += 1
    return newestNumber
  }

  /// Records the call of a write or a removal.
  mutating func writeBegins(_ version: Version, at time: UInt64) {
    openWrites += 1
    append(Value(version, made: time, isOpen: true))
  }

  /// Records the return of a write or a removal.
  mutating func writeEnds(_ version: Version, at time: UInt64) {
    openWrites -= 1
    lastWriteReturn = max(lastWriteReturn, time)
    guard let index = index(of: version) else { return }
    values[index].settled = min(values[index].settled, time)
    values[index].returned = min(values[index].returned, time)
    values[index].isOpen = false
  }

  /// Records a fetched value. The leader called at `call`, and the fetch began at `start`.
  mutating func fetched(_ version: Version, calledAt call: UInt64, startedAt start: UInt64) {
    append(Value(version, made: call, started: start))
  }

  /// Records a read that returned a value. Returns the contradiction, or nil.
  mutating func read(_ version: Version, from start: UInt64, to end: UInt64, lastClearing: Clearing?) -> String? {
    guard let index = index(of: version) ?? adopt(version, from: start) else {
      return start > forgottenUntil ? "a read returned \(version), which was replaced or removed much earlier" : nil
    }
    values[index].settled = min(values[index].settled, end)
    values[index].returned = min(values[index].returned, end)
    values[index].latestStart = max(values[index].latestStart, start)
    let read = values[index]
    if let lastClearing, min(read.settled, read.started) < lastClearing.call, lastClearing.return < start {
      return
        "a read returned \(version), but began \(start - lastClearing.return) ns after many keys were removed"
    }
    for other in values where other.version != version {
      if KeyHistory.contradict(old: read, new: other) {
        return "a read returned \(version), but began \(read.latestStart - other.returned) ns after"
          + " the newer value \(other.version) was present"
      }
      if KeyHistory.contradict(old: other, new: read) {
        return "a read returned \(other.version), but began after the newer value \(version) was present"
      }
    }
    return nil
  }

  /// Whether any operation wrote, fetched, or read a value.
  var isTouched: Bool { newestNumber > 0 || !values.isEmpty }

  /// Returns whether a write or a removal was in progress at some time since `time`.
  func wasWritten(since time: UInt64) -> Bool {
    openWrites > 0 || lastWriteReturn >= time
  }

  private static func contradict(old: Value, new: Value) -> Bool {
    old.precedes(new) && new.returned < old.latestStart
  }

  private func index(of version: Version) -> Int? {
    values.lastIndex { $0.version == version }
  }

  /// Adds a value that was on disk before the run began. It precedes all values of the run.
  private mutating func adopt(_ version: Version, from start: UInt64) -> Int? {
    guard case .foreign = version else { return nil }
    append(Value(version, made: 0, settled: 0))
    return index(of: version)
  }

  private mutating func append(_ value: Value) {
    if values.count >= KeyHistory.capacity { forgetOldest() }
    values.append(value)
  }

  /// Drops the value with the earliest latest start that certainly has a successor.
  ///
  /// A read that begins after the successor was present must not return the dropped value. `forgottenUntil` records
  /// this time.
  private mutating func forgetOldest() {
    let candidates = values.indices.filter { !values[$0].isOpen }.sorted {
      values[$0].latestStart < values[$1].latestStart
    }
    for index in candidates {
      let old = values[index]
      let successors = values.filter {
        old.precedes($0) && $0.returned != .max && $0.version != old.version
      }
      guard let replaced = successors.map(\.returned).min() else { continue }
      forgottenUntil = max(forgottenUntil, replaced)
      values.remove(at: index)
      return
    }
    guard values.count >= KeyHistory.hardCapacity, let index = candidates.first else { return }
    // The dropped value has no known successor. From now on, no read of a dropped value can be judged.
    forgottenUntil = .max
    values.remove(at: index)
  }
}
