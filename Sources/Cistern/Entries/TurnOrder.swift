/// In which order those who wait for a turn get it: the most urgent first, and among equals who came first. A binary heap,
/// pure; it may have places of those who wait no more, which its owner skips.
struct TurnOrder: Sendable {
  struct Place: Sendable {
    let urgency: Urgency
    let ticket: UInt64

    func precedes(_ other: Place) -> Bool {
      urgency == other.urgency ? ticket < other.ticket : urgency > other.urgency
    }
  }

  /// Each precedes those at twice its index, plus one and plus two.
  private var places: [Place] = []

  var count: Int { places.count }

  /// O(log n).
  mutating func insert(_ place: Place) {
    places.append(place)
    var index = places.count - 1
    while index > 0, case let parent = (index - 1) / 2, places[index].precedes(places[parent]) {
      places.swapAt(index, parent)
      index = parent
    }
  }

  /// Takes the first place out. O(log n).
  mutating func popFirst() -> Place? {
    guard let last = places.popLast() else { return nil }
    guard let first = places.first else { return last }
    places[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < places.count && places[child].precedes(places[least]) {
        least = child
      }
      if least == index { return first }
      places.swapAt(index, least)
      index = least
    }
  }

  /// Forgets all places but these. O(n).
  mutating func keep(_ isKept: (Place) -> Bool) {
    let kept = places.filter(isKept)
    places = []
    for place in kept { insert(place) }
  }
}
