/// The state of a ``ScriptedOrigin``: the scripted answers that are left, and the calls so far.
struct OriginState<Key: Hashable & Sendable, Value: Sendable> {
  var scripts: [Key: [OriginAnswer<Key, Value>]] = [:]
  var bulkCalls: [[Key]] = []
  private(set) var calls: [OriginCall<Key>] = []
  private(set) var counts: [Key: Int] = [:]
  private(set) var running: [Key: Int] = [:]
  private(set) var greatestConcurrency: [Key: Int] = [:]

  /// Begins a call. Returns its index, its record, and its scripted answer, or nil if the script is empty.
  mutating func begin(_ key: Key) -> (index: Int, OriginCall<Key>, OriginAnswer<Key, Value>?) {
    counts[key, default: 0] += 1
    running[key, default: 0] += 1
    greatestConcurrency[key] = max(greatestConcurrency[key] ?? 0, running[key]!)
    let priority = Task.currentPriority
    let call = OriginCall(key: key, number: counts[key]!, priority: priority, finalPriority: priority)
    calls.append(call)
    var script = scripts[key] ?? []
    let answer = script.isEmpty ? nil : script.removeFirst()
    scripts[key] = script
    return (calls.count - 1, call, answer)
  }

  mutating func end(_ index: Int, _ outcome: OriginCall<Key>.Outcome) {
    running[calls[index].key]! -= 1
    calls[index].outcome = outcome
    calls[index].finalPriority = Task.currentPriority
  }

  /// Records a cancellation, unless the fetch has ended. A later cancellation of the task does not concern the
  /// fetch.
  mutating func noteCancellation(_ index: Int) {
    if calls[index].outcome == .running { calls[index].wasCancelled = true }
  }
}
