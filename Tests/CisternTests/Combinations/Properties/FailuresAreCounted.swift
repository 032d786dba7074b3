extension Property {
  /// Only a fetch that throws counts as a failure.
  static let failuresAreCounted = Property("failures are counted") { evidence in
    let failures = evidence.statistics.failures
    let mayFail = !evidence.record.failures.isEmpty || evidence.combination.cancels
    return mayFail || failures == 0 ? [] : ["\(failures) failures were counted, but no fetch failed"]
  }
}
