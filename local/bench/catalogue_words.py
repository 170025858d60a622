"""The words of the generated catalogue: what titles, names and descriptions are put together from."""

from collections.abc import Sequence

TOPICS: Sequence[tuple[str, str]] = (
    ("Warehouse", "picking packing forklift inventory pallet shelving dispatch scanning loading storage stacking"),
    ("Transport", "routing fleet driver customs freight tonnage delivery tachograph container port tracking"),
    ("Data", "python statistics dashboard reporting modelling pipeline forecasting visualisation regression cleaning"),
    ("Software", "testing deployment architecture refactoring debugging automation container branch interface release"),
    (
        "Security",
        "encryption phishing firewall audit incident identity access backup recovery vulnerability monitoring",
    ),
    ("Finance", "budget accounting invoice treasury ledger costing taxation audit cash depreciation closing"),
    ("People", "recruiting onboarding appraisal payroll retention wellbeing interviewing absence contract succession"),
    ("Leadership", "coaching delegation feedback vision conflict motivation trust meeting change strategy mentoring"),
    (
        "Sales",
        "negotiation prospecting closing pipeline account pricing objection quota demonstration tender upselling",
    ),
    ("Marketing", "campaign branding segmentation newsletter positioning search copywriting analytics event audience"),
    ("Quality", "inspection calibration audit deviation sampling standard certification defect tolerance improvement"),
    ("Maintenance", "hydraulics lubrication welding bearing conveyor diagnosis pump electrical spare shutdown safety"),
    ("Purchasing", "supplier contract sourcing tender negotiation catalogue savings compliance category inventory"),
    ("Law", "contract privacy litigation compliance licence employment liability competition regulation dispute"),
    ("Care", "patient hygiene medication nursing record emergency ward consent therapy nutrition discharge"),
    ("Kitchen", "allergen hygiene menu portion storage cooking service recipe temperature cleaning catering"),
    ("Building", "scaffolding concrete drawing surveying insulation plumbing permit roofing site estimate"),
    ("Energy", "turbine solar grid metering storage efficiency insulation transformer heating audit demand"),
    ("Teaching", "curriculum assessment lesson classroom pupil feedback literacy inclusion planning tutoring"),
    ("Languages", "grammar vocabulary conversation pronunciation writing reading listening presentation email meeting"),
)
# Separated by spaces, the most frequent first.
COMMON = (
    "work team skill practice learn use plan daily tool method process example project role good new people time "
    "company result customer basic step course develop improve manage understand apply prepare support quality "
    "service system organise communicate report measure lead analyse solve present guide follow check share build "
    "deliver"
)
RANKS = "Junior Senior Lead Assistant Head Trainee Regional Deputy"
ROLES = "manager specialist analyst coordinator technician engineer adviser officer"
CITIES = (
    "Lyon Paris Lille Nantes Québec Montréal Madrid Sevilla Bilbao Dublin Leeds Bristol Gent Antwerpen Genève Zürich "
    "Köln Hamburg Praha Kraków Łódź Porto Lisboa Torino"
)
NAMES = "Aster Boreal Cobalt Delta Ember Fjord Garnet Halo Indigo Juno"
FORMS = "Ltd GmbH SA Group"
