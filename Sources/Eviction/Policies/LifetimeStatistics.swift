/// The observed lifetimes of entries, counted by number of uses and by age at the end.
///
/// A lifetime begins with a use. It ends with the next use, or when the ghost table drops the entry.
///
/// The method follows Beckmann, Chen and Cidon, "LHD: Improving cache hit rate by maximizing hit density" (NSDI
/// 2018), which ends a lifetime at eviction. Here, the lifetime of an evicted entry continues while the ghost table
/// contains it. The policy therefore distinguishes a missed hit from an entry that is no longer requested, even if
/// it evicts the entry early.
@safe
struct LifetimeStatistics: ~Copyable {
  // The lifetimes that ended with a use, and those that ended without one; owned. Both are indexed by class of
  // uses, then by class of age. Each class is below the number of classes, so indices are in bounds.
  private let uses: UnsafeMutablePointer<Float>
  private let ends: UnsafeMutablePointer<Float>
  /// The total weight of all lifetimes.
  private(set) var total: Float = 0
  /// The oldest class of ages in which a lifetime has ended.
  private var oldest = 0

  init() {
    unsafe uses = .allocate(capacity: LifetimeClass.count)
    unsafe ends = .allocate(capacity: LifetimeClass.count)
    unsafe uses.initialize(repeating: 0, count: LifetimeClass.count)
    unsafe ends.initialize(repeating: 0, count: LifetimeClass.count)
  }

  deinit {
    unsafe uses.deallocate()
    unsafe ends.deallocate()
  }

  /// The number of classes of ages to distinguish: those with observations, and one for all later ages.
  var knownAges: Int { min(oldest + 2, LifetimeClass.ageClasses) }

  /// Counts the end of a lifetime. If it ended without a use, later requests of the entry are not attributed to it.
  mutating func count(_ lifetime: ObservedLifetimes.Lifetime) {
    precondition(lifetime.index < LifetimeClass.count)
    if lifetime.endsWithUse {
      unsafe uses[lifetime.index] += 1
    } else {
      unsafe ends[lifetime.index] += 1
    }
    total += 1
    oldest = max(oldest, lifetime.index % LifetimeClass.ageClasses)
  }

  /// Reduces the weight of all recorded lifetimes, so that new ones dominate.
  mutating func fade() {
    for place in 0..<LifetimeClass.count {
      unsafe uses[place] *= 0.8
      unsafe ends[place] *= 0.8
    }
    total *= 0.8
  }

  /// Returns, for each class of ages, the share of the lifetimes that ended with a use, of those that reached the
  /// class.
  ///
  /// A class with few observations is assumed to be used at the rate of its past.
  ///
  /// - Parameters:
  ///   - useClass: The class of uses.
  ///   - scale: The number of entries. A new entry of this age is about as likely to be used as not.
  /// - Returns: The shares, by class of ages.
  func chances(ofUses useClass: Int, scale: Float) -> [Float] {
    /// The weight of the assumption, as a number of lifetimes.
    let assumed: Float = 8
    let typicalUses = LifetimeClass.typicalUses(useClass)
    let (widths, starts) = (LifetimeClass.widths, LifetimeClass.starts)
    var reached: Float = 0
    var chances = [Float](repeating: 0, count: knownAges)
    var places = chances.mutableSpan
    for age in places.indices.reversed() {
      let place = useClass * LifetimeClass.ageClasses + age
      reached += unsafe uses[place] + ends[place]
      let expected = typicalUses * widths[age]
      let others = starts[age] + widths[age] / 2 + scale
      places[age] = unsafe (uses[place] + assumed * min(expected / (expected + others), 0.9)) / (reached + assumed)
    }
    return chances
  }
}
