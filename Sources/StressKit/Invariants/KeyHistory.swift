/// What is known of the newest values of one key, and whether a read may return what it returned. Pure: it is told of
/// calls and returns with their times, and answers; locks are elsewhere.
///
/// **What a read may return.** Each value is unique. Of each, these times are kept:
///
/// - *settled*: whatever is called later comes after the value in the key's order. For a write or a removal, its
///   return; for both, and for a fetched value, no later than the first return of a read that saw it.
/// - *started*: of a fetched value, when its fetch did. Whatever is *made* later, by a write, a removal or the leader of
///   another fetch, comes after the value: it took the entry away from the fetch, or came when that was over. What is
///   merely read later need not, because the older value is there while a newer one is fetched.
/// - *made*: the call of the write or removal, or of the fetch's leader.
/// - *returned*: by then the value was current, or had been. The return of the write or removal, or of the first read
///   that saw it.
/// - *latest start*: the last call that made it or saw it. For a fetched value, its leader's: the entry may have lost its
///   flight between that call and the start of the fetch.
///
/// A read that returns `old` is wrong exactly if there is a `new` with `old.settled < new.latestStart` or
/// `old.started < new.made` (new is later in the key's order) and `new.returned < old.latestStart` (new was there when the read began). This is the criterion
/// of Gibbons and Korach for a register with unique values ("Testing shared memories", 1997), with one allowance:
/// a caller that waits for a flight gets what the flight brings, even if the entry was removed or replaced while it
/// waited. It called before that removal returned, so that the criterion is silent; one that called afterwards is
/// found out.
///
/// A removal is a value that no read returns. A read that finds nothing is always right: any entry may be evicted.
struct KeyHistory {
  private struct Value {
    let version: Version
    var settled: UInt64
    var started = UInt64.max
    var returned: UInt64
    let made: UInt64
    var latestStart: UInt64
    /// The call that writes it has not returned.
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

    /// Whether this is earlier in the key's order, for certain.
    func precedes(_ other: Value) -> Bool {
      settled < other.latestStart || started < other.made
    }
  }

  /// How many values are kept, as long as the order of older ones is clear.
  static let capacity = 8
  /// How many are kept at most.
  static let hardCapacity = 128

  private var values: [Value] = []
  private var newestNumber: UInt64 = 0
  /// A read that began later than this must not return a value that is no longer kept.
  private var forgottenUntil: UInt64 = 0
  private var openWrites = 0
  private var lastWriteReturn: UInt64 = 0

  /// A number that no value of the key has had.
  mutating func nextNumber() -> UInt64 {
    newestNumber += 1
    return newestNumber
  }

  /// A write or a removal is called.
  mutating func writeBegins(_ version: Version, at time: UInt64) {
    openWrites += 1
    append(Value(version, made: time, isOpen: true))
  }

  /// A write or a removal has returned.
  mutating func writeEnds(_ version: Version, at time: UInt64) {
    openWrites -= 1
    lastWriteReturn = max(lastWriteReturn, time)
    guard let index = index(of: version) else { return }
    values[index].settled = min(values[index].settled, time)
    values[index].returned = min(values[index].returned, time)
    values[index].isOpen = false
  }

  /// A fetch that was led by a call at `call`, and started at `start`, has brought a value.
  mutating func fetched(_ version: Version, calledAt call: UInt64, startedAt start: UInt64) {
    append(Value(version, made: call, started: start))
  }

  /// A read returned a value. Nil if that is right; else what is wrong.
  mutating func read(_ version: Version, from start: UInt64, to end: UInt64, lastClearing: Clearing?) -> String? {
    guard let index = index(of: version) ?? adopt(version, from: start) else {
      return start > forgottenUntil ? "\(version) was returned, which was replaced or removed long before" : nil
    }
    values[index].settled = min(values[index].settled, end)
    values[index].returned = min(values[index].returned, end)
    values[index].latestStart = max(values[index].latestStart, start)
    let read = values[index]
    if let lastClearing, min(read.settled, read.started) < lastClearing.call, lastClearing.return < start {
      return
        "\(version) was returned by a read that began \(start - lastClearing.return) ns after everything was removed"
    }
    for other in values where other.version != version {
      if KeyHistory.contradict(old: read, new: other) {
        return "\(version) was returned by a read that began \(read.latestStart - other.returned) ns after"
          + " \(other.version), which is newer, was there"
      }
      if KeyHistory.contradict(old: other, new: read) {
        return "\(other.version) was returned by a read that began after \(version), which is newer, was there"
      }
    }
    return nil
  }

  /// Whether anything was ever written, fetched or read.
  var isTouched: Bool { newestNumber > 0 || !values.isEmpty }

  /// Whether a write or a removal was under way at some time since `time`.
  func wasWritten(since time: UInt64) -> Bool {
    openWrites > 0 || lastWriteReturn >= time
  }

  private static func contradict(old: Value, new: Value) -> Bool {
    old.precedes(new) && new.returned < old.latestStart
  }

  private func index(of version: Version) -> Int? {
    values.lastIndex { $0.version == version }
  }

  /// Takes up a value that was on disk before the run began: older than all that the run wrote.
  private mutating func adopt(_ version: Version, from start: UInt64) -> Int? {
    guard case .foreign = version else { return nil }
    append(Value(version, made: 0, settled: 0))
    return index(of: version)
  }

  private mutating func append(_ value: Value) {
    if values.count >= KeyHistory.capacity { forgetOldest() }
    values.append(value)
  }

  /// Forgets the value that was seen least lately, and remembers from when on it must not be seen again: from when a
  /// value that came after it was there.
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
    // Nothing is known to have come after it: from now on, no forgotten value can be judged.
    forgottenUntil = .max
    values.remove(at: index)
  }
}

/// A removal of every key at once: when it was called, and when it returned.
struct Clearing: Sendable, Equatable {
  let call: UInt64
  var `return`: UInt64
}
