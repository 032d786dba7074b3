/// What a policy tells entries apart by: how often they were used, and how long ago. Both in steps that grow.
enum LifetimeClass {
  /// The number of classes of uses.
  static let useClasses = 10
  /// The number of classes of ages.
  static let ageClasses = 48

  /// The class of an entry that was asked for so many times.
  @inline(__always)
  static func ofUses(_ uses: UInt8) -> Int {
    switch uses {
    case ...4: max(Int(uses), 1) - 1
    case ...6: 4
    case ...9: 5
    case ...14: 6
    case ...24: 7
    case ...48: 8
    default: 9
    }
  }

  /// About the middle of a class of uses.
  static func typicalUses(_ useClass: Int) -> Float {
    switch useClass {
    case ..<4: Float(useClass + 1)
    case 4: 5.5
    case 5: 8
    case 6: 12
    case 7: 20
    case 8: 36
    default: 80
    }
  }

  /// The class of an age: two for each doubling.
  @inline(__always)
  static func ofAge(_ age: UInt32) -> Int {
    guard age >= 4 else { return Int(age) }
    let exponent = 31 &- age.leadingZeroBitCount
    return min(exponent &* 2 &+ Int((age &>> UInt32(exponent &- 1)) & 1), ageClasses &- 1)
  }

  /// The least age of a class.
  static func start(ofAge ageClass: Int) -> Float {
    guard ageClass >= 4 else { return Float(ageClass) }
    let power = Float(UInt32(1) << UInt32(ageClass / 2))
    return ageClass.isMultiple(of: 2) ? power : 1.5 * power
  }

  /// The ages in each class, and where it starts: looked up thousands of times whenever densities are computed.
  static let widths = (0..<ageClasses).map { width(ofAge: $0) }
  static let starts = (0..<ageClasses).map { start(ofAge: $0) }

  /// The ages in a class.
  static func width(ofAge ageClass: Int) -> Float { start(ofAge: ageClass + 1) - start(ofAge: ageClass) }
}
