/// The few entries that promised least when they were last looked at. A handful, searched from end to end.
///
/// Instead of an order over all entries: what is worst of those that come by now, and of the worst that came by before,
/// is as bad as the worst of all, nearly. After the pool of Redis 3.0.
struct EvictionCandidates {
  struct Candidate {
    var number: SlotNumber
    /// What it promised when it was looked at, for its cost.
    var density: Float
  }

  static let capacity = 16

  private var candidates = InlineArray<16, Candidate>(repeating: Candidate(number: .none, density: 0))
  private(set) var count = 0

  /// The least density of all; infinite where there is none.
  var lowest: Float {
    var lowest = Float.infinity
    for place in 0..<count { lowest = min(lowest, candidates[place].density) }
    return lowest
  }

  /// Takes an entry in, unless it promises more than all others and there is no room.
  ///
  /// - Returns: the entry that is left out: that one, or the one in whose place it is; none where there was room.
  mutating func offer(_ number: SlotNumber, density: Float) -> SlotNumber {
    let candidate = Candidate(number: number, density: density)
    guard count == Self.capacity else {
      candidates[count] = candidate
      count += 1
      return .none
    }
    var best = 0
    for place in 1..<count where candidates[place].density > candidates[best].density { best = place }
    guard density < candidates[best].density else { return number }
    defer { candidates[best] = candidate }
    return candidates[best].number
  }

  /// The candidate that promises least, but for one, and what the next one promises; nil where there is none.
  func least(sparing kept: SlotNumber) -> (number: SlotNumber, density: Float, next: Float)? {
    var least = Candidate(number: .none, density: .infinity)
    var next = Float.infinity
    for place in 0..<count where candidates[place].number != kept {
      if least.number == .none || candidates[place].density < least.density {
        next = least.density
        least = candidates[place]
      } else {
        next = min(next, candidates[place].density)
      }
    }
    return least.number == .none ? nil : (least.number, least.density, next)
  }

  /// Notes what a candidate promises now.
  mutating func update(_ number: SlotNumber, density: Float) {
    for place in 0..<count where candidates[place].number == number { candidates[place].density = density }
  }

  mutating func remove(_ number: SlotNumber) {
    for place in 0..<count where candidates[place].number == number {
      count -= 1
      candidates[place] = candidates[count]
      return
    }
  }

  mutating func removeAll() { count = 0 }

  mutating func renumber(_ numbers: borrowing Renumbering) {
    for place in 0..<count { candidates[place].number = numbers[candidates[place].number] }
  }
}
