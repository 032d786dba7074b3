extension Property {
  /// A load returns a stale value at once only within the window for it, and after a failed fetch within the window for
  /// errors.
  static let windowsAreKept = Property("windows of stale values are kept") { evidence in
    let combination = evidence.combination
    let record = evidence.record
    let isLost = record.losses.contains { $0.kind == .memoryEviction } && !evidence.keepsEvicted
    guard combination.operation.hasWindows, combination.leavesKeyAlone, !isLost,
      let load = record.loads.first, let stored = record.stored.first
    else { return [] }
    let returnsStored = !combination.situation.isStaleForErrors || combination.operation == .load(.failingWindowed)
    let mark = returnsStored ? stored.mark : record.fetches.first?.mark
    if let mark, load.outcome == .value(Document(mark)) { return [] }
    let text = returnsStored ? "the stale value" : "a fetched value"
    return ["a load ended with \(load.outcome.map { "\($0)" } ?? "nothing") instead of \(text)"]
  }
}
