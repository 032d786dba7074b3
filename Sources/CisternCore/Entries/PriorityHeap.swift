/// A priority heap of the waiters for a permit. Pure.
///
/// The highest priority comes first; among equal priorities, the lowest ticket does. The heap may contain places of
/// waiters that no longer wait, which its owner skips.
struct PriorityHeap: Sendable {
  struct Place: Sendable {
    let urgency: Urgency
    let ticket: PermitTicket

    func precedes(_ other: Place) -> Bool {
      urgency == other.urgency ? ticket < other.ticket : urgency > other.urgency
    }
  }

  /// The heap: each place precedes those at twice its index plus one and plus two.
  private var places: [Place] = []

  var count: Int { places.count }

  /// Inserts a place.
  ///
  /// - Complexity: O(log *n*).
  mutating func insert(_ place: Place) {
    places.append(place)
    var index = places.count - 1
    while index > 0, case let parent = (index - 1) / 2, places[index].precedes(places[parent]) {
      places.swapAt(index, parent)
      index = parent
    }
  }

  /// Removes and returns the first place.
  ///
  /// - Complexity: O(log *n*).
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

  /// Removes the places for which `isKept` returns false.
  ///
  /// - Complexity: O(*n* log *n*) in the worst case.
  mutating func keep(_ isKept: (Place) -> Bool) {
    let kept = places.filter(isKept)
    places = []
    for place in kept { insert(place) }
  }
}
