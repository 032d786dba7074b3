import CisternCore

extension RecordWork {
  /// Sets the position in the commit order before which the items are put, in this transaction or in an earlier one.
  mutating func setPosition(_ position: Int) {
    note {
      $0.position = position
    } dense: {
      $0.position = position
    }
  }

  /// Gives the rows of all extents their live bytes at the end of the transaction.
  mutating func writeLiveBytes() {
    note {
      _ in
    } dense: {
      $0.writesLiveBytes = true
      $0.outcome.hasChanges = true
    }
  }

  var hasChanges: Bool {
    switch self {
    case .ordered(let step): step.outcome.hasChanges
    case .dense(let work): work.step.outcome.hasChanges
    }
  }

  /// The approximate number of pages that the changes of records copy.
  var touchedPages: Int {
    switch self {
    case .ordered(let step): step.outcome.touchedPages
    case .dense(let work): work.step.touched.total
    }
  }

  /// The live records that were evicted to make room.
  var evicted: [EvictedRecord] {
    switch self {
    case .ordered(let step): step.outcome.evicted
    case .dense(let work): work.step.outcome.evicted
    }
  }

  /// Whether the caller must commit before it puts more records, although its own budget is not used up.
  var shouldCommit: Bool {
    switch self {
    case .ordered: false
    case .dense(let work): !work.step.hasBudget
    }
  }

  /// Whether the file has too few free numbers for these generations of partitions.
  func lacksNumbers(for generations: some Sequence<Generation>) -> Bool {
    switch self {
    case .ordered: false
    case .dense(let work): work.step.state.partitionNumbers.areLacking(for: generations)
    }
  }
}
