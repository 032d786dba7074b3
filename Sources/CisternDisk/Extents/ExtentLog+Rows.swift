extension ExtentLog {
  /// Creates the log of a file. Returns nil if the rows contradict each other, which is a sign of damage.
  ///
  /// - Parameters:
  ///   - row: The row of the log.
  ///   - rows: The rows of all extents that are not released.
  init?(_ row: LogRow, rows: [ExtentNumber: Extent]) {
    self.init(layout: row.layout)
    summary.newestAge = row.newestAge
    summary.givenCount = row.extentCount
    var extents = rows
    for (number, extent) in rows {
      guard number.number < row.extentCount, extent.isValid(in: layout) else { return nil }
      var extent = extent
      if case .open(let stream) = extent.state {
        guard let state = row.open[stream], state.number == number else { return nil }
        extent.end = state.end
        extent.liveBytes = state.liveBytes
        summary.open[stream] = number
        extents[number] = extent
      }
      if case .free = extent.state { summary.freeCount += 1 }
      summary.liveBytes += extent.liveBytes
    }
    guard open.count == row.open.count else { return nil }
    summary.paged = row.paged
    table = ExtentTable(extents, rows: rows)
  }

  /// Returns the extents whose rows must be written, in the order of their numbers, and notes that they are. A released
  /// extent is nil: its row must be removed.
  ///
  /// - Parameter withLiveBytes: Whether to return also the extents of which only the live bytes differ from the row.
  /// - Returns: The rows.
  mutating func takeChangedRows(withLiveBytes: Bool) -> [(number: ExtentNumber, extent: Extent?)] {
    var numbers = summary.changed
    if withLiveBytes {
      for entry in table.entries where entry.extent != entry.written { numbers.insert(entry.number) }
    }
    summary.changed = []
    return numbers.sorted().map { ($0, table.noteWritten($0)) }
  }

  /// Whether the row of a closed extent states other live bytes.
  var hasUnwrittenLiveBytes: Bool {
    table.entries.contains { $0.extent.isClosed && $0.extent != $0.written }
  }

  /// Subtracts the records that this process has removed, and that the rows count as live.
  ///
  /// Another process that wrote rows since did not know of these removals.
  ///
  /// - Parameter known: The log that this process had before it read the rows again.
  mutating func subtractRemovals(in known: ExtentLog) {
    for entry in known.table.entries where entry.extent.isClosed {
      // An extent that was emptied and filled since has another age.
      guard let written = entry.written, written.liveBytes > entry.extent.liveBytes, let read = self[entry.number],
        read.isClosed, read.age == entry.extent.age, read.end == entry.extent.end
      else { continue }
      let removed = min(written.liveBytes - entry.extent.liveBytes, read.liveBytes)
      table.change(entry.number) { $0.liveBytes -= removed }
      summary.liveBytes -= removed
    }
  }
}
