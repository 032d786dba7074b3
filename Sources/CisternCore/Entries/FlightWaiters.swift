/// The waiters of a flight by number, in the order of joining.
///
/// A number is used once. If a place is removed, the other waiters keep their numbers.
@usableFromInline
struct FlightWaiters<Waiter> {
  @usableFromInline
  struct Place {
    @usableFromInline let number: Int
    @usableFromInline var waiter: Waiter

    @inlinable
    init(number: Int, waiter: Waiter) {
      self.number = number
      self.waiter = waiter
    }
  }

  /// The waiter with the number 0, until its place is removed. Most flights have no other waiter, and need no array.
  @usableFromInline var first: Waiter?
  /// The places of the other waiters, in ascending order of their numbers.
  @usableFromInline var places: [Place] = []
  @usableFromInline var nextNumber = 0

  @inlinable
  init() {}

  /// The number of places.
  @inlinable
  var count: Int { first == nil ? places.count : places.count + 1 }

  /// Adds a waiter, and returns its number.
  @inlinable
  mutating func append(_ waiter: Waiter) -> Int {
    defer { nextNumber += 1 }
    if nextNumber == 0 {
      first = waiter
    } else {
      places.append(Place(number: nextNumber, waiter: waiter))
    }
    return nextNumber
  }

  /// The waiter with this number; nil if its place was removed.
  ///
  /// - Complexity: O(log *n*).
  @inlinable
  subscript(number: Int) -> Waiter? { number == 0 ? first : index(of: number).map { places[$0].waiter } }

  /// Replaces a waiter whose place was not removed.
  @inlinable
  mutating func replace(_ number: Int, by waiter: Waiter) {
    if number == 0, first != nil {
      first = waiter
    } else if let index = index(of: number) {
      places[index].waiter = waiter
    } else {
      preconditionFailure("the waiter was removed")
    }
  }

  /// Calls `change` with every waiter.
  @inlinable
  mutating func update(_ change: (inout Waiter) -> Void) {
    if var waiter = first {
      change(&waiter)
      first = waiter
    }
    for index in places.indices { change(&places[index].waiter) }
  }

  /// Calls `change` with every waiter except the one with the number 0.
  @inlinable
  mutating func updateAllButFirst(_ change: (inout Waiter) -> Void) {
    for index in places.indices { change(&places[index].waiter) }
  }

  /// Removes the places of the waiters for which `isGone` returns true.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  mutating func removeAll(where isGone: (Waiter) -> Bool) {
    if let waiter = first, isGone(waiter) { first = nil }
    places.removeAll { isGone($0.waiter) }
  }

  @inlinable
  func index(of number: Int) -> Int? {
    // If no place was removed so far, the number determines the index.
    let expected = number - 1
    if places.indices.contains(expected), places[expected].number == number { return expected }
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if places[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low].number == number ? low : nil
  }
}
