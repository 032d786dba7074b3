extension Property {
  /// The document of a fetch whose outcome does not store it is in no tier.
  static let unstoredResultsStayOut = Property("unstored results stay out of the cache") { evidence in
    let documents = [
      ("memory", evidence.shown), ("the second tier", evidence.behindMemory), ("disk", evidence.reopened),
    ]
    return evidence.record.fetches.filter { $0.effect != .storing }.flatMap { fetch in
      documents.filter { $0.1?.marks.contains(fetch.mark) ?? false }.map {
        "\(fetch.mark) was not stored, but is in \($0.0)"
      }
    }
  }
}
