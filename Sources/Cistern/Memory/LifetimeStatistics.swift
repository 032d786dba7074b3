/// What became of entries: a lifetime begins with a use and ends with the next one, or with nobody remembering it.
/// Counted by how often the entry had been used, and by the age at the end.
///
/// After Beckmann, Chen and Cidon, "LHD: Improving cache hit rate by maximizing hit density" (NSDI 2018), which counts
/// evictions as ends. Here an evicted entry's lifetime goes on while it is remembered: what would have been a hit is told
/// from what nobody wanted any more, also of entries that the policy lets go of early.
@safe
struct LifetimeStatistics: ~Copyable {
  // Lifetimes that ended with a use, by class of uses and then of age; and those that were given up. Owned. A place is of
  // classes, which are below their numbers: in bounds.
  private let uses: UnsafeMutablePointer<Float>
  private let ends: UnsafeMutablePointer<Float>
  /// The weight of all lifetimes.
  private(set) var total: Float = 0
  /// The oldest class of age that a lifetime has ended in.
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

  /// The number of classes of age that differ: those of which anything is known, and one for all that come after.
  var knownAges: Int { min(oldest + 2, LifetimeClass.ageClasses) }

  /// An entry that had been used so many times was used again.
  mutating func countUse(after uses: UInt8, age: UInt32) {
    let age = LifetimeClass.ofAge(age)
    unsafe self.uses[LifetimeClass.ofUses(uses) &* LifetimeClass.ageClasses &+ age] += 1
    count(age)
  }

  /// An entry that had been used so many times is given up: nobody will know whether it is wanted again.
  mutating func countEnd(after uses: UInt8, age: UInt32) {
    let age = LifetimeClass.ofAge(age)
    unsafe ends[LifetimeClass.ofUses(uses) &* LifetimeClass.ageClasses &+ age] += 1
    count(age)
  }

  private mutating func count(_ age: Int) {
    total += 1
    oldest = max(oldest, age)
  }

  /// Gives older lifetimes less weight, so that what comes now decides.
  mutating func fade() {
    for place in 0..<LifetimeClass.count {
      unsafe uses[place] *= 0.8
      unsafe ends[place] *= 0.8
    }
    total *= 0.8
  }

  /// The share of the lifetimes that reached a class of age and ended there with a use.
  ///
  /// What was seen seldom or never is taken to be used as often as it was so far.
  ///
  /// - Parameter scale: the number of entries, which is the age at which a new one is about as likely to be used as not.
  func chances(ofUses useClass: Int, scale: Float) -> [Float] {
    /// The number of lifetimes that weigh as much as the assumption.
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
