/// The few entries that promised least when they were last looked at. A handful, compared all at once.
///
/// Instead of an order over all entries: what is worst of those that come by now, and of the worst that came by before,
/// is as bad as the worst of all, nearly. After the pool of Redis 3.0.
struct EvictionCandidates {
  static let capacity = 16

  /// What each promised when it was looked at, for its cost, ``rounded(_:)``; its place in the bits that leaves free, so that the
  /// least of all densities tells where it is. Places without a candidate promise more than any.
  private var densities: SIMD16<Float>
  /// The greatest of these: most of what is offered promises more, and is left out without a look at the others.
  private var greatest: Float
  private var numbers = InlineArray<16, SlotNumber>(repeating: .none)
  private(set) var count = 0

  private static let nothing = rounded(.greatestFiniteMagnitude)

  init() {
    densities = SIMD16()
    for place in 0..<Self.capacity { densities[place] = Self.density(Self.nothing, at: place) }
    greatest = densities.greatest
  }

  /// A density as candidates hold it: two in a million less, at most.
  static func rounded(_ density: Float) -> Float { Float(bitPattern: density.bitPattern & ~15) }

  /// The least density of all; infinite where there is none.
  var lowest: Float { count == 0 ? .infinity : Self.rounded(densities.least) }

  /// Takes an entry in, unless it promises more than all others and there is no room.
  ///
  /// - Returns: the entry that is left out: that one, or the one in whose place it is; none where there was room.
  mutating func offer(_ number: SlotNumber, density: Float) -> SlotNumber {
    guard Self.rounded(density) < Self.rounded(greatest) else { return number }
    let place = Self.place(of: greatest)
    let left = numbers[place]
    numbers[place] = number
    set(density, at: place)
    if left == .none { count += 1 }
    return left
  }

  /// The candidate that promises least, but for one, and what the next one promises; nil where there is none.
  func least(sparing kept: SlotNumber) -> (number: SlotNumber, density: Float, next: Float)? {
    var others = densities
    if let place = place(of: kept) { others[place] = Self.density(Self.nothing, at: place) }
    let least = others.least
    let place = Self.place(of: least)
    guard numbers[place] != .none, numbers[place] != kept else { return nil }
    others[place] = Self.density(Self.nothing, at: place)
    return (numbers[place], Self.rounded(least), Self.rounded(others.least))
  }

  /// Notes what a candidate promises now.
  mutating func update(_ number: SlotNumber, density: Float) {
    if let place = place(of: number) { set(density, at: place) }
  }

  mutating func remove(_ number: SlotNumber) {
    guard let place = place(of: number) else { return }
    numbers[place] = .none
    densities[place] = Self.density(Self.nothing, at: place)
    greatest = max(greatest, densities[place])
    count -= 1
  }

  mutating func removeAll() { self = EvictionCandidates() }

  mutating func renumber(_ renumbering: borrowing Renumbering) {
    for place in 0..<Self.capacity where numbers[place] != .none { numbers[place] = renumbering[numbers[place]] }
  }

  private mutating func set(_ density: Float, at place: Int) {
    let wasGreatest = densities[place] == greatest
    densities[place] = Self.density(Swift.min(density, Self.nothing.nextDown), at: place)
    greatest = wasGreatest ? densities.greatest : max(greatest, densities[place])
  }

  private static func density(_ density: Float, at place: Int) -> Float {
    Float(bitPattern: density.bitPattern & ~15 | UInt32(truncatingIfNeeded: place))
  }

  private static func place(of density: Float) -> Int { Int(density.bitPattern & 15) }

  private func place(of number: SlotNumber) -> Int? {
    guard number != .none else { return nil }
    return (0..<Self.capacity).first { numbers[$0] == number }
  }
}

extension SIMD16<Float> {
  // By halves: a loop over the places would take each after the other.

  fileprivate var least: Float {
    let eight = lowHalf.replacing(with: highHalf, where: highHalf .< lowHalf)
    let four = eight.lowHalf.replacing(with: eight.highHalf, where: eight.highHalf .< eight.lowHalf)
    return Swift.min(Swift.min(four[0], four[1]), Swift.min(four[2], four[3]))
  }

  fileprivate var greatest: Float {
    let eight = lowHalf.replacing(with: highHalf, where: lowHalf .< highHalf)
    let four = eight.lowHalf.replacing(with: eight.highHalf, where: eight.lowHalf .< eight.highHalf)
    return Swift.max(Swift.max(four[0], four[1]), Swift.max(four[2], four[3]))
  }
}
