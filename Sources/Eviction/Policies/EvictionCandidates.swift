/// A pool of the entries with the lowest hit densities among those that were recently examined.
///
/// The pool replaces an order over all entries. Each eviction examines a few entries and merges them into the pool.
/// The worst entry of the pool is then close to the worst entry of the shard. The pool of Redis 3.0 works in the
/// same way.
struct EvictionCandidates: ~Copyable {
  static let capacity = 16

  /// The densities of the candidates when they were last evaluated, ``rounded(_:)``. The four bits that rounding
  /// clears hold the index in this array, so the minimum also gives its position. An unused position has a density
  /// above that of any candidate.
  private var densities = InlineArray<16, Float>(repeating: 0)
  /// The greatest density, unused positions included; nil if it must be computed. It rejects most offered entries
  /// without a look at the others.
  private var greatest: Float?
  /// The least density.
  private var least: Float
  private var numbers = InlineArray<16, SlotNumber>(repeating: .none)
  private(set) var count = 0

  private static let nothing = rounded(.greatestFiniteMagnitude)

  init() {
    least = 0
    for place in 0..<Self.capacity { densities[place] = Self.density(Self.nothing, at: place) }
    least = densities.least
  }

  /// Returns a density with its four lowest bits cleared, as the pool stores it. The relative error is at most two
  /// millionths.
  static func rounded(_ density: Float) -> Float { Float(bitPattern: density.bitPattern & ~15) }

  /// The least density of all candidates; infinite if the pool is empty.
  var lowest: Float { count == 0 ? .infinity : Self.rounded(least) }

  /// Returns whether the pool would reject an entry that it does not contain. It does so if it is full and the
  /// density is not below that of any candidate.
  ///
  /// Mutating only because it computes the greatest density if that is unknown. The candidates stay.
  @inline(__always)
  mutating func leavesOut(_ density: Float) -> Bool { Self.rounded(density) >= Self.rounded(findGreatest()) }

  /// Adds an entry, unless the pool is full and the density is not below that of any candidate. In a full pool, the
  /// entry replaces the candidate with the greatest density.
  ///
  /// - Returns: The rejected entry, which is `number` or the replaced candidate; ``SlotNumber/none`` if the pool
  ///   was not full.
  mutating func offer(_ number: SlotNumber, density: Float) -> SlotNumber {
    guard !leavesOut(density) else { return number }
    let place = Self.place(of: findGreatest())
    let left = numbers[place]
    numbers[place] = number
    set(Self.held(density), at: place)
    if left == .none { count += 1 }
    return left
  }

  /// Returns the candidate with the least density, other than `kept`; nil if no other candidate exists.
  @inline(__always)
  mutating func least(keeping kept: SlotNumber) -> (number: SlotNumber, density: Float)? {
    let least = kept == .none ? least : leastDensity(without: place(of: kept))
    let number = numbers[Self.place(of: least)]
    return number == .none || number == kept ? nil : (number, Self.rounded(least))
  }

  /// Returns the least density of all candidates, other than `number` and `kept`.
  mutating func leastDensity(without number: SlotNumber, keeping kept: SlotNumber) -> Float {
    // Usually, the entry is the one with the least density.
    let likely = Self.place(of: least)
    let place = numbers[likely] == number ? likely : place(of: number)
    return Self.rounded(leastDensity(without: place, self.place(of: kept)))
  }

  /// Returns the least density at the other positions. Changes the densities during the call only, because a copy takes
  /// longer.
  @inline(__always)
  private mutating func leastDensity(without place: Int?, _ other: Int? = nil) -> Float {
    let former = place.map { exchange(Self.nothing, at: $0) }
    let otherFormer = other.map { exchange(Self.nothing, at: $0) }
    let least = densities.least
    // In reverse order, because both positions can be the same.
    if let other, let otherFormer { densities[other] = otherFormer }
    if let place, let former { densities[place] = former }
    return least
  }

  @inline(__always)
  private mutating func exchange(_ density: Float, at place: Int) -> Float {
    let former = densities[place]
    densities[place] = Self.density(density, at: place)
    return former
  }

  /// Updates the density of a candidate. Does nothing for other entries.
  mutating func update(_ number: SlotNumber, density: Float) {
    if let place = place(of: number) { set(Self.held(density), at: place) }
  }

  mutating func remove(_ number: SlotNumber) {
    guard let place = place(of: number) else { return }
    numbers[place] = .none
    count -= 1
    set(Self.nothing, at: place)
  }

  mutating func removeAll() { self = EvictionCandidates() }

  mutating func renumber(_ renumbering: borrowing Renumbering) {
    for place in 0..<Self.capacity where numbers[place] != .none { numbers[place] = renumbering[numbers[place]] }
  }

  private mutating func set(_ density: Float, at place: Int) {
    let former = densities[place]
    let new = Self.density(density, at: place)
    densities[place] = new
    // The minimum and the maximum are recomputed only if the changed density was the extreme one and no longer is.
    if new >= Self.nothing {
      greatest = new
    } else if let known = greatest {
      greatest = former == known && new < former ? nil : max(known, new)
    }
    least = former == least && new > former ? densities.least : min(least, new)
  }

  @inline(__always)
  private mutating func findGreatest() -> Float {
    if let greatest { return greatest }
    let found = densities.greatest
    greatest = found
    return found
  }

  /// Returns a density below that of an unused position.
  private static func held(_ density: Float) -> Float { Swift.min(density, nothing.nextDown) }

  private static func density(_ density: Float, at place: Int) -> Float {
    Float(bitPattern: density.bitPattern & ~15 | UInt32(truncatingIfNeeded: place))
  }

  private static func place(of density: Float) -> Int { Int(density.bitPattern & 15) }

  private func place(of number: SlotNumber) -> Int? {
    guard number != .none else { return nil }
    return (0..<Self.capacity).first { numbers[$0] == number }
  }
}

extension InlineArray<16, Float> {
  // Processes four densities at a time. A loop over the positions would be sequential.

  @inline(__always)
  fileprivate var least: Float {
    let (left, right) = (Self.least(four(at: 0), four(at: 4)), Self.least(four(at: 8), four(at: 12)))
    let four = Self.least(left, right)
    return Swift.min(Swift.min(four[0], four[1]), Swift.min(four[2], four[3]))
  }

  @inline(__always)
  fileprivate var greatest: Float {
    let (left, right) = (Self.greatest(four(at: 0), four(at: 4)), Self.greatest(four(at: 8), four(at: 12)))
    let four = Self.greatest(left, right)
    return Swift.max(Swift.max(four[0], four[1]), Swift.max(four[2], four[3]))
  }

  @inline(__always)
  private func four(at place: Int) -> SIMD4<Float> {
    SIMD4(self[place], self[place + 1], self[place + 2], self[place + 3])
  }

  @inline(__always)
  private static func least(_ left: SIMD4<Float>, _ right: SIMD4<Float>) -> SIMD4<Float> {
    left.replacing(with: right, where: right .< left)
  }

  @inline(__always)
  private static func greatest(_ left: SIMD4<Float>, _ right: SIMD4<Float>) -> SIMD4<Float> {
    left.replacing(with: right, where: left .< right)
  }
}
