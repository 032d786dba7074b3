/// The waiters of a flight by number, in the order of joining. Numbers are given once: a place that is given back is
/// closed up, and the others keep their numbers.
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

  @usableFromInline var places: [Place] = []
  @usableFromInline var nextNumber = 0

  @inlinable
  init() {}

  /// Places that are taken.
  @inlinable
  var count: Int { places.count }

  /// Adds a waiter; its number.
  @inlinable
  mutating func append(_ waiter: Waiter) -> Int {
    defer { nextNumber += 1 }
    places.append(Place(number: nextNumber, waiter: waiter))
    return nextNumber
  }

  /// A waiter; nil where its place was given back. O(log n).
  @inlinable
  subscript(number: Int) -> Waiter? { index(of: number).map { places[$0].waiter } }

  /// Replaces a waiter that has a place.
  @inlinable
  mutating func replace(_ number: Int, by waiter: Waiter) {
    guard let index = index(of: number) else { preconditionFailure("the waiter has no place any more") }
    places[index].waiter = waiter
  }

  /// Changes every waiter.
  @inlinable
  mutating func update(_ change: (inout Waiter) -> Void) {
    for index in places.indices { change(&places[index].waiter) }
  }

  /// Gives places back. O(n).
  @inlinable
  mutating func removeAll(where isGone: (Waiter) -> Bool) {
    places.removeAll { isGone($0.waiter) }
  }

  @inlinable
  func index(of number: Int) -> Int? {
    // As long as no place was given back, the number is the index.
    if number < places.count, places[number].number == number { return number }
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if places[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low].number == number ? low : nil
  }
}
