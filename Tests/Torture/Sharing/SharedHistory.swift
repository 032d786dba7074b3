/// All operations of all processes of a round, and the rules that their results must follow.
struct SharedHistory {
  private(set) var operations: [LoggedOperation] = []
  private(set) var openings: [LoggedOpening] = []
  private(set) var faults: [String] = []
  /// Whether every process finds every committed value: no eviction, and one schema version.
  let keepsEverything: Bool
  /// Whether reads come from disk alone, so that they must agree between processes.
  let readsDisk: Bool

  init(keepsEverything: Bool, readsDisk: Bool) {
    self.keepsEverything = keepsEverything
    self.readsDisk = readsDisk
  }

  mutating func add(_ logged: ProcessLog) {
    operations += logged.operations
    openings += logged.openings
    faults += logged.faults
  }

  /// The number of openings whose settings differ from those of the opening before.
  var changeCount: Int {
    let settings = openings.sorted { $0.time < $1.time }.map(\.settings)
    return zip(settings, settings.dropFirst()).count { $0 != $1 }
  }

  /// The number of reads and loads that returned a value.
  var foundCount: Int {
    operations.count { if case .returned(.some) = $0.end { true } else { false } }
  }

  /// Compares each read with the operations on its key. `final` contains the values of the store after the last
  /// process ended.
  mutating func check(final: [SharedKey: SharedAuthor?], time: UInt64) {
    let authors = Dictionary(uniqueKeysWithValues: operations.map { ($0.author, $0) })
    var related: [SharedKey: [LoggedOperation]] = [:]
    for key in final.keys {
      related[key] = operations.filter { $0.writes(key) || $0.operation.removes(key) }
    }
    for operation in operations where readsDisk {
      guard case .returned(let result) = operation.end else { continue }
      switch operation.operation {
      case .read(let key):
        check(result, key, from: operation.begin, until: operation.finish, related[key] ?? [], authors)
      case .load(let key) where result != operation.author, .keep(let key) where result != operation.author:
        check(result, key, from: operation.begin, until: operation.finish, related[key] ?? [], authors)
      default: break
      }
    }
    for (key, result) in final {
      check(result, key, from: time, until: time, related[key] ?? [], authors)
    }
    checkBatches(final)
  }

  private mutating func check(
    _ result: SharedAuthor?, _ key: SharedKey, from begin: UInt64, until finish: UInt64,
    _ related: [LoggedOperation], _ authors: [SharedAuthor: LoggedOperation]
  ) {
    guard let result else {
      if keepsEverything { checkMiss(key, from: begin, until: finish, related) }
      return
    }
    guard let write = authors[result], write.begin <= finish else {
      return faults.append("\(key.text): the value of \(result.text), which began later")
    }
    let later = related.first {
      $0.author != write.author && $0.supersedes(key) && $0.begin > write.finish && $0.finish < begin
    }
    if let later {
      faults.append(
        "\(key.text): the value of \(result.text), after \(later.author.text) (\(later.operation.text)) had returned")
    }
  }

  /// A miss of a committed value is allowed only if a removal may have come after it.
  private mutating func checkMiss(
    _ key: SharedKey, from begin: UInt64, until finish: UInt64, _ related: [LoggedOperation]
  ) {
    let lost = related.first { write in
      guard write.isCertain, write.writes(key), write.finish < begin else { return false }
      // A load that raced with an invalidation is not stored.
      if write.operation.loadedKey != nil { return false }
      return !related.contains { $0.operation.removes(key) && $0.finish > write.begin && $0.begin < finish }
    }
    if let lost {
      faults.append("\(key.text): no value, and \(lost.author.text) (\(lost.operation.text)) had been committed")
    }
  }

  /// If one key has the value of a batch, all of its keys have it, unless a later operation replaced it.
  private mutating func checkBatches(_ final: [SharedKey: SharedAuthor?]) {
    for batch in operations {
      guard case .batch(let keys) = batch.operation,
        keys.contains(where: { final[$0] == .some(.some(batch.author)) })
      else { continue }
      for key in keys where final[key] != .some(.some(batch.author)) {
        let isReplaced = operations.contains {
          ($0.operation.removes(key) || $0.writes(key)) && $0.finish > batch.begin && $0.author != batch.author
        }
        if !isReplaced, keepsEverything { faults.append("batch \(batch.author.text) is in part: \(key.text) lacks it") }
      }
    }
  }
}
