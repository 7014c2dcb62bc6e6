// SPDX-License-Identifier: Apache-2.0
//
// Primitives that mn_geo has no kind for, by what they stand for: packed primitives unpacked, spheres, tubes,
// NURBS and metaballs as polygons, dense volumes as VDBs. Houdini itself converts them, each into a detail of
// its own.
#include "plugin/houdini/stand_ins.hpp"

#include <GA/GA_Attribute.h>
#include <GA/GA_Handle.h>
#include <GA/GA_Range.h>
#include <GEO/GEO_PrimVolume.h>
#include <GU/GU_ConvertParms.h>
#include <GU/GU_Detail.h>
#include <GU/GU_PrimPacked.h>
#include <GU/GU_PrimVDB.h>

namespace mn_houdini
{

static std::string name_of(const GU_Detail &detail, GA_Offset primitive)
{
    const GA_ROHandleS names(detail.findStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
    return names.isValid() ? names.get(primitive).c_str() : "";
}

bool make_stand_in(const GU_Detail &detail, GA_Offset offset, GU_Detail &plain)
{
    const GEO_Primitive &primitive = *detail.getGEOPrimitive(offset);
    if (primitive.getTypeId() == GEO_PRIMVOLUME) {
        const auto &volume = static_cast<const GEO_PrimVolume &>(primitive);
        return GU_PrimVDB::buildFromPrimVolume(plain, volume, name_of(detail, offset).c_str()) != nullptr;
    }
    if (GU_PrimPacked::isPackedPrimitive(primitive.getTypeDef()))
        return static_cast<const GU_PrimPacked &>(primitive).unpackUsingPolygons(plain);
    plain.mergePrimitives(detail, GA_Range(detail.getPrimitiveMap(), offset, offset + 1));
    GU_ConvertParms parms;
    parms.setFromType(GEO_PrimTypeCompat::GEOPRIMALL);
    parms.setToType(GEO_PrimTypeCompat::GEOPRIMPOLY);
    plain.convert(parms);
    for (GA_Iterator it(plain.getPrimitiveRange()); !it.atEnd(); ++it)
        if (plain.getPrimitiveTypeId(*it) == primitive.getTypeId()) return false; // there is no polygon of it
    return plain.getNumPrimitives() > 0;
}

} // namespace mn_houdini
