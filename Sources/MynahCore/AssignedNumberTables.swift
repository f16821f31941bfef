/// The SIG's numbers and names of services and descriptors (Assigned Numbers, 3.4 and 3.7), in the order of
/// the numbers.
///
/// Each table is one constant text, so it needs no initialization, and is read only when it is searched.
enum AssignedNumberTables {
    static let services: StaticString = """
        1800 Generic Access
        1801 Generic Attribute
        1802 Immediate Alert
        1803 Link Loss
        1804 Tx Power
        1805 Current Time
        1806 Reference Time Update
        1807 Next DST Change
        1808 Glucose
        1809 Health Thermometer
        180A Device Information
        180D Heart Rate
        180E Phone Alert Status
        180F Battery
        1810 Blood Pressure
        1811 Alert Notification
        1812 Human Interface Device
        1813 Scan Parameters
        1814 Running Speed and Cadence
        1815 Automation IO
        1816 Cycling Speed and Cadence
        1818 Cycling Power
        1819 Location and Navigation
        181A Environmental Sensing
        181B Body Composition
        181C User Data
        181D Weight Scale
        181E Bond Management
        181F Continuous Glucose Monitoring
        1820 Internet Protocol Support
        1821 Indoor Positioning
        1822 Pulse Oximeter
        1823 HTTP Proxy
        1824 Transport Discovery
        1825 Object Transfer
        1826 Fitness Machine
        1827 Mesh Provisioning
        1828 Mesh Proxy
        1829 Reconnection Configuration
        183A Insulin Delivery
        183B Binary Sensor
        183C Emergency Configuration
        183D Authorization Control
        183E Physical Activity Monitor
        183F Elapsed Time
        1840 Generic Health Sensor
        1843 Audio Input Control
        1844 Volume Control
        1845 Volume Offset Control
        1846 Coordinated Set Identification
        1847 Device Time
        1848 Media Control
        1849 Generic Media Control
        184A Constant Tone Extension
        184B Telephone Bearer
        184C Generic Telephone Bearer
        184D Microphone Control
        184E Audio Stream Control
        184F Broadcast Audio Scan
        1850 Published Audio Capabilities
        1851 Basic Audio Announcement
        1852 Broadcast Audio Announcement
        1853 Common Audio
        1854 Hearing Access
        1855 Telephony and Media Audio
        1856 Public Broadcast Announcement
        1857 Electronic Shelf Label
        1858 Gaming Audio
        1859 Mesh Proxy Solicitation
        185A Industrial Measurement Device
        185B Ranging
        185C HID ISO
        185D Cookware
        185E Voice Assistant
        185F Generic Voice Assistant
        1860 Tire Pressure Monitoring System
        """

    static let descriptors: StaticString = """
        2900 Characteristic Extended Properties
        2901 Characteristic User Description
        2902 Client Characteristic Configuration
        2903 Server Characteristic Configuration
        2904 Characteristic Presentation Format
        2905 Characteristic Aggregate Format
        2906 Valid Range
        2907 External Report Reference
        2908 Report Reference
        2909 Number of Digitals
        290A Value Trigger Setting
        290B Environmental Sensing Configuration
        290C Environmental Sensing Measurement
        290D Environmental Sensing Trigger Setting
        290E Time Trigger Setting
        290F Complete BR-EDR Transport Block Data
        2910 Observation Schedule
        2911 Valid Range and Accuracy
        2912 Measurement Description
        2913 Manufacturer Limits
        2914 Process Tolerances
        2915 IMD Trigger Setting
        2916 Cooking Sensor Info
        2917 Cooking Trigger Setting
        """

    /// Vendors' 128-bit UUIDs that most tools display by name.
    static let vendors: StaticString = """
        00001530-1212-EFDE-1523-785FEABCD123 Nordic Legacy DFU
        00001531-1212-EFDE-1523-785FEABCD123 Nordic Legacy DFU Control Point
        00001532-1212-EFDE-1523-785FEABCD123 Nordic Legacy DFU Packet
        03B80E5A-EDE8-4B33-A751-6CE34EC4C700 MIDI
        22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB Apple Data Source
        2F7CABCE-808D-411F-9A0C-BB92BA96C102 Apple Entity Update
        69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9 Apple Control Point
        6E400001-B5A3-F393-E0A9-E50E24DCCA9E Nordic UART
        6E400002-B5A3-F393-E0A9-E50E24DCCA9E Nordic UART RX
        6E400003-B5A3-F393-E0A9-E50E24DCCA9E Nordic UART TX
        7772E5DB-3868-4112-A1A9-F2669D106BF3 MIDI IO
        7905F431-B5CE-4E99-A40F-4B1E122D00D0 Apple Notification Center
        89D3502B-0F36-433A-8EF4-C502AD55F8DC Apple Media
        8D53DC1D-1DB7-4CD3-868B-8A527460AA84 Simple Management Protocol
        8EC90001-F315-4F60-9FB8-838830DAEA50 Nordic DFU Control Point
        8EC90002-F315-4F60-9FB8-838830DAEA50 Nordic DFU Packet
        9B3C81D8-57B1-4A8A-B8DF-0E56F7CA51C2 Apple Remote Command
        9FBF120D-6301-42D9-8C58-25E699A21DBD Apple Notification Source
        C6B2F38C-23AB-46D8-A6AB-A3A870BBD5D7 Apple Entity Attribute
        DA2E7828-FBCE-4E01-AE9E-261174997C48 Simple Management Protocol Data
        """
}
