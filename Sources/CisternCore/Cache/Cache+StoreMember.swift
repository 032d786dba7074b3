extension Cache: StoreMember {
  /// Recounts the contents of memory and describes each contradiction. Returns an empty array if the cache is
  /// consistent and no flight is in progress. For tests: visits every entry.
  package func checkInvariants() -> [String] {
    table.findings()
  }

  package func handleRecordLosses(_ losses: [RecordLoss]) { records.handleRecordLosses(losses) }
}
