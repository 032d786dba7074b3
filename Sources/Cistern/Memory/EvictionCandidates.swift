/// The few entries that promised least when they were last looked at. A handful, compared all at once.
///
/// Instead of an order over all entries: what is worst of those that come by now, and of the worst that came by before,
/// is as bad as the worst of all, nearly. After the pool of Redis 3.0.
struct EvictionCandidates: ~Copyable {
  static let capacity = 16

  /// What each promised when it was looked at, for its cost, ``rounded(_:)``; its place in the bits that leaves free, so that the
  /// least of all densities tells where it is. Places without a candidate promise more than any.
  private var densities = InlineArray<16, Float>(repeating: 0)
  /// The greatest of these: most of what is offered promises more, and is left out without a look at the others.
  /// Nil where it has to be found first.
  private var greatest: Float?
  /// The least of these.
  private var least: Float
  private var numbers = InlineArray<16, SlotNumber>(repeating: .none)
  private(set) var count = 0

  private static let nothing = rounded(.greatestFiniteMagnitude)

  init() {
    least = 0
    for place in 0..<Self.capacity { densities[place] = Self.density(Self.nothing, at: place) }
    least = densities.least
  }

  /// A density as candidates hold it: two in a million less, at most.
  static func rounded(_ density: Float) -> Float { Float(bitPattern: density.bitPattern & ~15) }

  /// The least density of all; infinite where there is none.
  var lowest: Float { count == 0 ? .infinity : Self.rounded(least) }

  /// Whether an entry that is none of them would be left out: it promises more than all of them, and there is no room.
  @inline(__always)
  mutating func leavesOut(_ density: Float) -> Bool { Self.rounded(density) >= Self.rounded(findGreatest()) }

  /// Takes an entry in, unless it promises more than all others and there is no room.
  ///
  /// - Returns: the entry that is left out: that one, or the one in whose place it is; none where there was room.
  mutating func offer(_ number: SlotNumber, density: Float) -> SlotNumber {
    guard !leavesOut(density) else { return number }
    let place = Self.place(of: findGreatest())
    let left = numbers[place]
    numbers[place] = number
    set(Self.held(density), at: place)
    if left == .none { count += 1 }
    return left
  }

  /// The candidate that promises least, but for one; nil where there is none.
  @inline(__always)
  func least(sparing kept: SlotNumber) -> (number: SlotNumber, density: Float)? {
    let least = kept == .none ? least : densities(without: kept).least
    let number = numbers[Self.place(of: least)]
    return number == .none || number == kept ? nil : (number, Self.rounded(least))
  }

  /// What the candidate promises that would be the least without this one, and but for one.
  func leastDensity(without number: SlotNumber, sparing kept: SlotNumber) -> Float {
    Self.rounded(densities(without: number, kept).least)
  }

  private func densities(without number: SlotNumber, _ other: SlotNumber = .none) -> InlineArray<16, Float> {
    var others = densities
    if let place = place(of: number) { others[place] = Self.density(Self.nothing, at: place) }
    if let place = place(of: other) { others[place] = Self.density(Self.nothing, at: place) }
    return others
  }

  /// Notes what a candidate promises now.
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
    // All are looked at only where the one that was the greatest, or the least, is not any more.
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

  /// A candidate promises less than a place without one.
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
  // Four at a time: a loop over the places would take each after the other.

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
