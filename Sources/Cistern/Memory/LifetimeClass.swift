/// What a policy tells entries apart by: how often they were used, and how long ago. Both in steps that grow.
enum LifetimeClass {
  /// The number of classes of uses.
  static let useClasses = 10
  /// The number of classes of ages.
  static let ageClasses = 48
  /// The number of both together.
  static let count = useClasses * ageClasses

  /// The class of an entry that was asked for so many times.
  @inline(__always)
  static func ofUses(_ uses: UInt8) -> Int {
    // Those of 0 to 15 uses, four bits each: which of them an entry is in cannot be foreseen, and branches would be.
    if uses < 16 { return Int((0x7666_6655_5443_2100 as UInt64) &>> (UInt64(uses) &* 4) & 15) }
    return 7 + (uses > 24 ? 1 : 0) + (uses > 48 ? 1 : 0)
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
    // The exponent and one bit more: as a floating-point number has them, exact as long as classes differ.
    return min(Int(Float(Int(age)).bitPattern &>> 22) &- 254, ageClasses &- 1)
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
