/// What became of entries: a lifetime begins with a use and ends with the next one, or with nobody remembering it.
/// Counted by how often the entry had been used, and by the age at the end.
///
/// After Beckmann, Chen and Cidon, "LHD: Improving cache hit rate by maximizing hit density" (NSDI 2018), which counts
/// evictions as ends. Here an evicted entry's lifetime goes on while it is remembered: what would have been a hit is told
/// from what nobody wanted any more, also of entries that the policy lets go of early.
struct LifetimeStatistics {
  /// Lifetimes that ended with a use, by class of uses and then of age; and those that were given up.
  private var uses = [Float](repeating: 0, count: LifetimeClass.useClasses * LifetimeClass.ageClasses)
  private var ends = [Float](repeating: 0, count: LifetimeClass.useClasses * LifetimeClass.ageClasses)
  /// The weight of all lifetimes.
  private(set) var total: Float = 0
  /// The oldest class of age that a lifetime has ended in.
  private var oldest = 0

  /// The number of classes of age that differ: those of which anything is known, and one for all that come after.
  var knownAges: Int { min(oldest + 2, LifetimeClass.ageClasses) }

  private static func place(_ uses: UInt8, _ age: UInt32) -> Int {
    LifetimeClass.ofUses(uses) * LifetimeClass.ageClasses + LifetimeClass.ofAge(age)
  }

  /// An entry that had been used so many times was used again.
  mutating func countUse(after uses: UInt8, age: UInt32) {
    let place = Self.place(uses, age)
    self.uses[place] += 1
    count(place)
  }

  /// An entry that had been used so many times is given up: nobody will know whether it is wanted again.
  mutating func countEnd(after uses: UInt8, age: UInt32) {
    let place = Self.place(uses, age)
    ends[place] += 1
    count(place)
  }

  private mutating func count(_ place: Int) {
    total += 1
    oldest = max(oldest, place % LifetimeClass.ageClasses)
  }

  /// Gives older lifetimes less weight, so that what comes now decides.
  mutating func fade() {
    for place in uses.indices {
      uses[place] *= 0.8
      ends[place] *= 0.8
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
      reached += uses[place] + ends[place]
      let expected = typicalUses * widths[age]
      let others = starts[age] + widths[age] / 2 + scale
      places[age] = (uses[place] + assumed * min(expected / (expected + others), 0.9)) / (reached + assumed)
    }
    return chances
  }
}
