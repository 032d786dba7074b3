/// The requests to an origin that works and fails by turns.
struct OriginRequests: Sendable {
  /// The requests in phases of both kinds.
  struct Counts: Sendable, Equatable, Codable {
    var working = 0
    var failing = 0
  }

  private var byPhase: [Int] = []

  static func fails(in phase: Int) -> Bool { phase % 2 == 1 }

  /// Notes a request of an operation that began in this phase.
  mutating func note(in phase: Int) {
    while byPhase.count <= phase { byPhase.append(0) }
    byPhase[phase] += 1
  }

  /// Returns the requests of the pairs of phases that ended before `phase`.
  func counts(before phase: Int) -> Counts {
    var counts = Counts()
    for (index, requests) in byPhase.prefix(phase / 2 * 2).enumerated() {
      if Self.fails(in: index) { counts.failing += requests } else { counts.working += requests }
    }
    return counts
  }
}
