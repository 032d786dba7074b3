import Cistern

/// The report of a replay, as JSON and as a table.
struct ReplayReport: Codable, Sendable {
  let trace: String
  let footprint: Replay.Footprint
  let results: [ReplayResult]
}

extension ReplayReport: CustomStringConvertible {
  /// The report as text.
  var description: String {
    var headings = [
      "policy", "limit", footprint.hasSizes ? "bytes" : "objects", "shards", "object misses", "object miss ratio",
      "with one shard",
    ]
    if footprint.hasSizes { headings.append("byte miss ratio") }
    var table = TextTable(headings)
    for result in results {
      var cells = [
        result.policy, result.limit,
        footprint.hasSizes ? ByteCount.bytes(result.limitCost).description : Formatting.count(result.limitCost),
        Formatting.count(result.shards), Formatting.count(result.misses),
        Formatting.fixed(result.objectMissRatio, decimals: 4),
        Formatting.fixed(result.objectMissRatioWithOneShard, decimals: 4),
      ]
      if footprint.hasSizes { cells.append(Formatting.fixed(result.byteMissRatio, decimals: 4)) }
      table.add(cells)
    }
    let size = footprint.hasSizes ? ", \(ByteCount.bytes(footprint.cost))" : ""
    return """
      \(trace): \(Formatting.count(footprint.requests)) requests of \(Formatting.count(footprint.objects)) objects\(size)

      \(table)
      """
  }
}
