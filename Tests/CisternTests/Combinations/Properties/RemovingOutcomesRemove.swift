extension Property {
  /// After a load whose fetch removed the value, no caller reads a value from before the load, unless another operation
  /// wrote the key in between.
  static let removingOutcomesRemove = Property("outcomes that remove a value remove it") { evidence in
    let record = evidence.record
    guard !evidence.combination.cancels, record.equalWrites == 0 else { return [] }
    return record.fetches.filter { $0.effect.removes && !$0.hasFailed }.flatMap { fetch -> [String] in
      guard
        let load = record.loads.first(where: { $0.span.began < fetch.span.began && fetch.span.ended < $0.span.ended }),
        !record.isContested(load, fetch)
      else { return [] }
      return record.readings.filter { load.span.isBefore($0.span) }.flatMap { reading in
        reading.document.marks.filter { mark in record.marks[mark].map { $0.born < load.span.began } ?? false }
          .map { "\(reading.document) was read at \(reading.span.began), but a fetch had removed \($0)" }
      }
    }
  }
}

extension Record {
  /// Whether another operation may have written the key during a load.
  fileprivate func isContested(_ load: Load, _ fetch: Fetch) -> Bool {
    let writes =
      stored.map(\.span) + erasures.map(\.span) + edits.map(\.span) + joint.map(\.span)
      + fetches.filter { $0.mark != fetch.mark }.map(\.span)
    return writes.contains { $0.began < load.span.ended && $0.ended > load.span.began }
  }
}
